"""The password of Messor's role: generated, stored in a password file, and rotated.

Only its SCRAM verifier is sent over SQL, so that the password appears in no log and no query list.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_ITERATIONS = 4096  # PostgreSQL's own default


def new_password() -> str:
    return secrets.token_hex(24)


def scram_verifier(password: str) -> str:
    """What PostgreSQL stores of a password (RFC 5803): it cannot be used to log in."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    shown = [base64.b64encode(part).decode() for part in (salt, stored_key, server_key)]
    return f"SCRAM-SHA-256${_ITERATIONS}:{shown[0]}${shown[1]}:{shown[2]}"
