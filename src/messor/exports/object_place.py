"""A place in an object store: a file goes there in parts, and a killed delivery continues after those there.

No store is trusted: what it says it holds is compared by its hash, or read back where it tells another
one, before a delivery counts. Blocks: call it off the event loop.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from messor.archive.objects import StoreOptions
from messor.core.masking import mask_text
from messor.errors import UnavailableError

PART_BYTES = 16 << 20
MAX_PARTS = 10_000  # of a multipart upload
ATTEMPTS = 5  # per request
TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file, with the hashes by which stores describe it."""

    start: int
    length: int
    md5: bytes
    sha256: str  # Base64, as S3 has it

    def is_described_by(self, given: dict[str, Any]) -> bool:
        """Whether a store's listing means these bytes; encrypted parts have no MD5."""
        hashes = (given.get("ETag", "").strip('"'), given.get("ChecksumSHA256"))
        return given["Size"] == self.length and (
            hashes[0] == self.md5.hex() or hashes[1] == self.sha256
        )


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """A bucket, with a prefix."""

    url: str
    options: StoreOptions
    part_bytes: int = PART_BYTES

    def put(self, source: Path, name: str) -> None:
        """Deliver a file; it appears when it is complete."""
        with self._translated() as client:
            parts = _parts(source, self.part_bytes)
            target = self._target(name)
            if _holds(client, target, source, parts):
                return  # a delivery that was killed before it was noted
            if len(parts) == 1:
                self._put_whole(client, target, source, parts[0])
            else:
                self._put_parts(client, target, source, parts)
            if not _holds(client, target, source, parts):
                client.delete_object(**target)
                raise self._broken("it did not store what was written")

    def remove(self, name: str) -> None:
        """Remove a file, and the parts of unfinished deliveries."""
        with self._translated() as client:
            target = self._target(name)
            client.delete_object(**target)
            _abort(client, target, _uploads(client, target))

    def _target(self, name: str) -> dict[str, str]:
        place = urlsplit(self.url)
        prefix = place.path.strip("/")
        return {"Bucket": place.netloc, "Key": f"{prefix}/{name}" if prefix else name}

    @property
    def _encryption(self) -> dict[str, str]:
        given = {
            "ServerSideEncryption": self.options.encryption,
            "SSEKMSKeyId": self.options.kms_key,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _put_whole(self, client: Any, target: dict[str, str], source: Path, part: FilePart) -> None:
        body = _read(source, part)
        client.put_object(**target, **self._encryption, Body=body, ChecksumSHA256=part.sha256)

    def _put_parts(
        self, client: Any, target: dict[str, str], source: Path, parts: Sequence[FilePart]
    ) -> None:
        begun = _uploads(client, target) or [
            client.create_multipart_upload(
                **target, **self._encryption, ChecksumAlgorithm="SHA256"
            )["UploadId"]
        ]
        upload = {**target, "UploadId": begun[0]}
        try:
            known = _known_parts(client, upload)
            done = [
                {
                    "PartNumber": n,
                    "ChecksumSHA256": part.sha256,
                    "ETag": _put_part(client, upload, source, part, number=n, known=known.get(n)),
                }
                for n, part in enumerate(parts, start=1)
            ]
            client.complete_multipart_upload(**upload, MultipartUpload={"Parts": done})
        except client.exceptions.NoSuchUpload:
            pass  # finished by an attempt whose answer was lost: what is there will show
        _abort(client, target, _uploads(client, target))  # begun by answers that were lost

    @contextlib.contextmanager
    def _translated(self) -> Iterator[Any]:
        """A client whose errors are one sentence."""
        try:
            from botocore import exceptions  # noqa: PLC0415 - only where objects are used
        except ImportError as error:
            raise UnavailableError(
                "This place is an object store, but botocore is not installed. "
                "Install it: pip install 'messor[s3]'"
            ) from error
        try:
            with contextlib.closing(_client(self.options)) as client:
                yield client
        except (exceptions.BotoCoreError, exceptions.ClientError, OSError) as error:
            raise self._broken(str(error).partition("\n")[0][:300]) from error

    def _broken(self, reason: str) -> UnavailableError:
        return UnavailableError(
            f"{mask_text(self.url)} cannot be used: {reason.rstrip('.')}. "
            "The file is kept and delivered when it works again."
        )


def _client(options: StoreOptions) -> Any:
    """A client of S3; what the options leave open is found by the usual rules of its clients."""
    from botocore.config import Config  # noqa: PLC0415 - as above
    from botocore.session import Session  # noqa: PLC0415 - as above

    config = Config(
        connect_timeout=TIMEOUT_SECONDS,
        read_timeout=TIMEOUT_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        s3={"addressing_style": "path" if options.endpoint else "auto"},
        # Hashes are given with each request; trailers are unknown to many servers.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return Session().create_client(
        "s3",
        endpoint_url=options.endpoint,
        region_name=options.region or ("us-east-1" if options.endpoint else None),
        aws_access_key_id=options.key_id,
        aws_secret_access_key=options.secret,
        config=config,
    )


def _parts(source: Path, part_bytes: int) -> list[FilePart]:
    """The parts of a file: the same at every attempt; an empty file is one."""
    size = source.stat().st_size
    length = max(part_bytes, -(-size // MAX_PARTS))
    found = []
    with source.open("rb") as file:
        for start in range(0, max(size, 1), length):
            data = file.read(length)
            md5 = hashlib.md5(data, usedforsecurity=False).digest()
            sha256 = base64.b64encode(hashlib.sha256(data).digest()).decode()
            found.append(FilePart(start, len(data), md5, sha256))
    return found


def _read(source: Path, part: FilePart) -> bytes:
    with source.open("rb") as file:
        file.seek(part.start)
        return file.read(part.length)


def _put_part(
    client: Any,
    upload: dict[str, str],
    source: Path,
    part: FilePart,
    *,
    number: int,
    known: dict[str, Any] | None,
) -> str:
    """Upload a part unless the store has it; returns its tag there."""
    if known is not None and part.is_described_by(known):
        return str(known["ETag"])
    given = client.upload_part(
        **upload, PartNumber=number, Body=_read(source, part), ChecksumSHA256=part.sha256
    )
    return str(given["ETag"])


def _uploads(client: Any, target: dict[str, str]) -> list[str]:
    """The unfinished uploads of an object, newest first."""
    pages = client.get_paginator("list_multipart_uploads").paginate(
        Bucket=target["Bucket"], Prefix=target["Key"]
    )
    found: list[tuple[datetime, str]] = []
    with contextlib.suppress(client.exceptions.NoSuchUpload):  # some servers say none so
        found += [
            (each["Initiated"], each["UploadId"])
            for page in pages
            for each in page.get("Uploads", ())
            if each["Key"] == target["Key"]
        ]
    return [upload for _, upload in sorted(found, reverse=True)]


def _known_parts(client: Any, upload: dict[str, str]) -> dict[int, dict[str, Any]]:
    pages = client.get_paginator("list_parts").paginate(**upload)
    return {each["PartNumber"]: each for page in pages for each in page.get("Parts", ())}


def _abort(client: Any, target: dict[str, str], uploads: Sequence[str]) -> None:
    for upload in uploads:
        with contextlib.suppress(client.exceptions.NoSuchUpload):
            client.abort_multipart_upload(**target, UploadId=upload)


def _holds(client: Any, target: dict[str, str], source: Path, parts: Sequence[FilePart]) -> bool:
    """Whether the store has the file, whatever it answered before."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - as above

    try:
        meta = client.head_object(**target)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return False
        raise
    if meta["ContentLength"] != sum(part.length for part in parts):
        return False
    return meta["ETag"].strip('"') == _tag(parts) or _reads_back(client, target, source)


def _tag(parts: Sequence[FilePart]) -> str:
    """The tag that S3 gives to an object of these parts."""
    if len(parts) == 1:
        return parts[0].md5.hex()
    whole = hashlib.md5(b"".join(part.md5 for part in parts), usedforsecurity=False)
    return f"{whole.hexdigest()}-{len(parts)}"


def _reads_back(client: Any, target: dict[str, str], source: Path) -> bool:
    body = client.get_object(**target)["Body"]
    with contextlib.closing(body), source.open("rb") as file:
        return all(file.read(len(chunk)) == chunk for chunk in body.iter_chunks(1 << 20)) and (
            not file.read(1)
        )
