"""The installation's key in a backup: encrypted with a passphrase that is not in it."""

from __future__ import annotations

import hashlib
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from messor.errors import UsageError

_MAGIC = b"messor-keys-1\n"
_SALT, _NONCE = 16, 12


def seal(key: bytes, passphrase: str) -> bytes:
    """Encrypt the key; the same passphrase opens it anywhere."""
    salt, nonce = secrets.token_bytes(_SALT), secrets.token_bytes(_NONCE)
    return _MAGIC + salt + nonce + _cipher(passphrase, salt).encrypt(nonce, key, _MAGIC)


def unseal(sealed: bytes, passphrase: str) -> bytes:
    """The key; raises a sentence if the passphrase is another."""
    body = sealed.removeprefix(_MAGIC)
    salt, nonce, text = body[:_SALT], body[_SALT : _SALT + _NONCE], body[_SALT + _NONCE :]
    try:
        return _cipher(passphrase, salt).decrypt(nonce, text, _MAGIC)
    except InvalidTag as error:
        raise UsageError(
            "The keys in the backup were sealed with another MESSOR_BACKUP_PASSPHRASE. Set that one, "
            "or restore without keys: --without-keys"
        ) from error


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    key = hashlib.scrypt(passphrase.encode(), salt=salt, n=2**15, r=8, p=1, maxmem=2**26, dklen=32)
    return AESGCM(key)
