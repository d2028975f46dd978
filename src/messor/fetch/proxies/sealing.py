"""Sealing: passwords are encrypted at rest, each bound to the proxy it belongs to.

The key is made from the operator's secret or, without one, kept in `secret.key` in the data
folder, readable by its owner alone. Workers on several machines need the same secret.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from messor.errors import UnavailableError
from messor.settings import Settings

KEY_FILE = "secret.key"
_FORMAT = b"\x01"  # AES-256-GCM: the nonce, then the sealed text with its tag
_NONCE = 12
_KEY = 32
_SALT = b"messor.fetch.proxies"


class Seal:
    """Encrypts and decrypts under one key, which is read or made at first use."""

    def __init__(self, data_dir: Path, secret: str | None = None) -> None:
        self._file = data_dir / KEY_FILE
        self._secret = secret
        self._cipher: AESGCM | None = None

    def close(self, text: str, owner: str) -> bytes:
        """Encrypt; only the same owner's text can be read again."""
        cipher = self._ready(make=True)
        nonce = secrets.token_bytes(_NONCE)
        return _FORMAT + nonce + cipher.encrypt(nonce, text.encode(), owner.encode())

    def open(self, sealed: bytes, owner: str) -> str:
        """Decrypt; the sentence of a failure says what to do."""
        cipher = self._ready(make=False)
        nonce, body = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        if sealed[:1] == _FORMAT and len(nonce) == _NONCE:
            with contextlib.suppress(InvalidTag):
                return cipher.decrypt(nonce, body, owner.encode()).decode()
        raise UnavailableError(
            f"The password of {owner} was sealed with another key; "
            "bring the old key back, or remove the proxy and add it again."
        )

    def _ready(self, *, make: bool) -> AESGCM:
        if self._cipher is None:
            self._cipher = AESGCM(self._key(make=make))
        return self._cipher

    def _key(self, *, make: bool) -> bytes:
        if self._secret:
            return hashlib.scrypt(self._secret.encode(), salt=_SALT, n=2**14, r=8, p=1, dklen=_KEY)
        if make and not self._file.exists():
            _write_key(self._file)
        return _read_key(self._file)


def seal_for(settings: Settings) -> Seal:
    """The seal of this installation."""
    secret = settings.secret_key
    return Seal(settings.data_dir, secret.get_secret_value() if secret else None)


def _write_key(file: Path) -> None:
    """Make the file whole or not at all; whoever comes second keeps what the first one made."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(base64.b64encode(secrets.token_bytes(_KEY)) + b"\n")
                out.flush()
                os.fsync(out.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(draft, file)
        finally:
            draft.unlink()
    except OSError as error:
        raise UnavailableError(f"The key {file} cannot be made: {error.strerror}.") from error


def _read_key(file: Path) -> bytes:
    try:
        text = file.read_bytes()
        is_open = os.name == "posix" and file.stat().st_mode & 0o077
    except OSError as error:
        raise UnavailableError(f"The key {file} cannot be read: {error.strerror}.") from error
    if is_open:
        raise UnavailableError(f"The key {file} can be read by others. Run: chmod 600 {file}")
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != _KEY:
        raise UnavailableError(f"The key {file} is damaged: it must be 32 bytes in base64.")
    return key
