#!/usr/bin/env python3
"""Verify an evidence bundle of Messor, offline. Needs Python 3.9 and `pip install cryptography`.

    python verify.py BUNDLE.wacz [KEY]

The file is signed as a whole: its last 64 bytes are an Ed25519 signature of everything before them.
KEY is the id of the key that must have signed it; get it from whoever made the bundle, not from it.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import sys
import zipfile
import zlib
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# What a changed file raises, wherever it was changed; RuntimeError: a ZIP that claims encryption.
DAMAGED = (InvalidSignature, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError,
           RuntimeError, zipfile.BadZipFile, zlib.error)  # fmt: skip


def require(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(message)


def check(key: bytes, signature: bytes, message: bytes) -> None:
    Ed25519PublicKey.from_public_bytes(key).verify(signature, message)


def name_of(key: bytes) -> str:
    """The id of a public key: its JWK thumbprint (RFC 7638)."""
    x = base64.urlsafe_b64encode(key).rstrip(b"=").decode()
    jwk = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return base64.urlsafe_b64encode(sha256(jwk.encode()).digest()).rstrip(b"=").decode()


def check_row(row: dict[str, Any], keys: dict[str, bytes]) -> None:
    """One row of a log: its salted hash is in a block, and the block's head is signed."""
    where, header = f"{row['log']} row {row['id']}", json.loads(row["header"])
    require(json.loads(row["row"])[0] == row["id"], f"{where}: its text is of another row")
    node = sha256(bytes.fromhex(row["salt"]) + row["row"].encode()).digest()
    node = sha256(b"\x00" + row["id"].to_bytes(8, "big", signed=True) + node).digest()
    for side, other in row["path"]:
        pair = bytes.fromhex(other) + node if side == "left" else node + bytes.fromhex(other)
        node = sha256(b"\x01" + pair).digest()
    is_there = (header[2], header[8]) == (row["log"], node.hex())
    require(is_there, f"{where} is not in its block")
    head = sha256(row["header"].encode()).digest()
    check(keys[header[11]], bytes.fromhex(row["signature"]), b"messor seal\n" + head)


def verify(data: bytes, expected: str | None = None) -> str:
    """One sentence about a bundle; raises if anything in it is not as it was signed."""
    package = zipfile.ZipFile(io.BytesIO(data))
    written = package.read("evidence/manifest.json")
    manifest = json.loads(written)
    keys = {name: base64.b64decode(key) for name, key in manifest["keys"].items()}
    require(all(name_of(key) == name for name, key in keys.items()), "a key has another id")
    require(expected in (None, manifest["key"]), f"it was signed by {manifest['key']}")
    signer = keys[manifest["key"]]
    check(signer, data[-64:], b"messor evidence\n" + sha256(data[:-64]).digest())
    check(signer, package.read("evidence/manifest.sig"), b"messor manifest\n" + written)
    for path, digest in manifest["files"].items():
        require(sha256(package.read(path)).hexdigest() == digest, f"{path} was changed")
    rows = json.loads(package.read("evidence/sealed.json"))
    for row in rows:
        check_row(row, keys)
    response = gzip.decompress(package.read("archive/data.warc.gz"))
    require(manifest["url"].encode() in response, "the archived response is of another page")
    record = json.loads(package.read("evidence/subject.json")) or {"fields": {}}
    proofs = [field["evidence"] for field in record["fields"].values() if field["evidence"]]
    source = package.read("evidence/source.txt").decode()
    for proof in proofs:
        require(proof["quote"] in source, f"the page lacks the quote {proof['quote'][:60]!r}")
    found = f"whole. {len(rows)} sealed rows, {len(proofs)} quotes"
    return f"{manifest['subject']}: {found}. Signed by {manifest['key']} at {manifest['at']}."


def main() -> int:
    try:
        with open(sys.argv[1], "rb") as file:
            print(verify(file.read(), sys.argv[2] if len(sys.argv) > 2 else None))
    except DAMAGED as error:
        print(f"NOT VALID: {str(error) or 'a signature is wrong'}", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
