"""Encryption at rest of passwords and secrets, each bound to its owner.

The key is derived from the operator's secret or, without one, kept in `secret.key` in the data
folder, readable by its owner only. Workers on several machines need the same secret. During key
rotation (`ops.key_rotation`) there are two: the newer one encrypts, either one decrypts.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from messor.errors import UnavailableError
from messor.fetch.proxies.key_file import KEY_BYTES, KEY_FILE, KeyFile
from messor.settings import Settings

__all__ = ["KEY_FILE", "Seal", "seal_for"]

_FORMAT = b"\x01"  # AES-256-GCM: the nonce, then the ciphertext with its tag
_NONCE = 12
_SALT = b"messor.fetch.proxies"


class Seal:
    """Encrypts and decrypts; a changed key file is read again."""

    def __init__(
        self, data_dir: Path, secret: str | None = None, previous: str | None = None
    ) -> None:
        self.file = KeyFile(data_dir / KEY_FILE)
        self.has_secret = bool(secret)
        self._secrets = [word for word in (secret, previous) if word]
        self._derived: list[AESGCM] | None = None
        self._kept: tuple[object, list[AESGCM]] = (None, [])

    def close(self, text: str, owner: str) -> bytes:
        """Encrypt with the newest key; decryption requires the same owner."""
        if not self.has_secret:
            self.file.make()
        nonce = secrets.token_bytes(_NONCE)
        return _FORMAT + nonce + self._newest().encrypt(nonce, text.encode(), owner.encode())

    def open(self, sealed: bytes, owner: str) -> str:
        """Decrypt; the error message says what to do."""
        found = self.try_open(sealed, owner)
        if found is not None:
            return found
        raise UnavailableError(
            f"The secret of {owner} was encrypted with another key; "
            "restore the old key, or remove the entry and add it again."
        )

    def try_open(self, sealed: bytes, owner: str) -> str | None:
        """Decrypt; None if no available key fits."""
        opened = (_opened(cipher, sealed, owner) for cipher in self._ciphers())
        return next((found for found in opened if found is not None), None)

    def is_newest(self, sealed: bytes, owner: str) -> bool:
        """Whether it is encrypted with the current key."""
        return _opened(self._newest(), sealed, owner) is not None

    def _newest(self) -> AESGCM:
        return self._derive()[0] if self.has_secret else self._read()[0]

    def _ciphers(self) -> Iterator[AESGCM]:
        """Newest first. A key file from before the secret was set decrypts what it encrypted."""
        yield from self._derive()
        if not self.has_secret or self.file.exists():
            yield from self._read()

    def _derive(self) -> list[AESGCM]:
        if self._derived is None:
            self._derived = [AESGCM(_derived_key(secret)) for secret in self._secrets]
        return self._derived

    def _read(self) -> list[AESGCM]:
        state = self.file.state()
        if state is None or self._kept[0] != state:
            self._kept = (state, [AESGCM(key) for key in self.file.read()])
        return self._kept[1]


def seal_for(settings: Settings) -> Seal:
    """The seal of this installation."""
    secret, previous = settings.secret_key, settings.secret_key_previous
    return Seal(
        settings.data_dir,
        secret.get_secret_value() if secret else None,
        previous.get_secret_value() if previous else None,
    )


def _derived_key(secret: str) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=_SALT, n=2**14, r=8, p=1, dklen=KEY_BYTES)


def _opened(cipher: AESGCM, sealed: bytes, owner: str) -> str | None:
    nonce, body = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
    if sealed[:1] == _FORMAT and len(nonce) == _NONCE:
        with contextlib.suppress(InvalidTag):
            return cipher.decrypt(nonce, body, owner.encode()).decode()
    return None
