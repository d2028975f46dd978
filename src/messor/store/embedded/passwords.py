"""The password of Messor's role: made, kept in a password file, and rotated.

Over SQL goes the verifier alone, so that the password stands in no log and no list of queries.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_ITERATIONS = 4096  # what PostgreSQL itself takes


def new_password() -> str:
    return secrets.token_hex(24)


def scram_verifier(password: str) -> str:
    """What PostgreSQL stores of a password (RFC 5803): it cannot be logged in with."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    shown = [base64.b64encode(part).decode() for part in (salt, stored_key, server_key)]
    return f"SCRAM-SHA-256${_ITERATIONS}:{shown[0]}${shown[1]}:{shown[2]}"
