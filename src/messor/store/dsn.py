"""Edits PostgreSQL DSNs as text: another database, an added setting, or without secrets.

A DSN may name hosts in ways that Python's URL parser cannot reassemble (several hosts, a
percent-encoded socket folder), so only its path, query and login are touched.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from messor.errors import UsageError

# libpq can read these from the environment; it has no variable for `sslpassword`.
_SECRETS = {"password": "PGPASSWORD"}
_UNSPEAKABLE = "sslpassword"


def socket_dsn(role: str, database: str, *, socket: Path, port: int, passfile: Path) -> str:
    """A DSN without a secret: the driver reads the password from a file at each connect."""
    host = quote(str(socket), safe="")
    return _with_passfile(f"postgresql://{role}@{host}:{port}/{database}", passfile)


def loopback_dsn(role: str, database: str, *, port: int, passfile: Path) -> str:
    return _with_passfile(f"postgresql://{role}@127.0.0.1:{port}/{database}", passfile)


def _with_passfile(dsn: str, passfile: Path) -> str:
    return f"{dsn}?passfile={quote(str(passfile), safe='')}"


def passfile_of(dsn: str) -> Path | None:
    """The password file that the DSN names."""
    named = dict(parse_qsl(urlsplit(dsn).query)).get("passfile")
    return Path(named) if named else None


def with_database(dsn: str, name: str) -> str:
    """The same server, another database."""
    return _joined(urlsplit(dsn)._replace(path=f"/{quote(name, safe='')}"))


def with_setting(dsn: str, name: str, value: str) -> str:
    """The same database with a setting for the whole session."""
    parts = urlsplit(dsn)
    query = f"{name}={quote(value, safe='')}"
    return _joined(parts._replace(query=f"{parts.query}&{query}" if parts.query else query))


def for_child(dsn: str) -> tuple[str, dict[str, str]]:
    """The DSN for the command line of a PostgreSQL program, and the environment to add.

    Command lines are readable by every user of the machine; an environment only by its owner.
    """
    if "://" not in dsn:
        raise UsageError("MESSOR_DATABASE_URL is wrong: it must start with postgresql://")
    parts = urlsplit(dsn)
    login, at, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    secrets = {"PGPASSWORD": unquote(password)} if password else {}
    kept: list[tuple[str, str]] = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == _UNSPEAKABLE:
            raise UsageError(
                "psql and pg_dump take sslpassword on the command line only, where every user can "
                "read it: use a client key without a passphrase, readable by its owner only."
            )
        if name in _SECRETS:
            secrets[_SECRETS[name]] = value
        else:
            kept.append((name, value))
    query = urlencode(kept, quote_via=quote, safe="")
    return _joined(parts._replace(netloc=f"{user}{at}{hosts}", query=query)), secrets


def _joined(parts: SplitResult) -> str:
    """Reassemble the DSN: `urlunsplit` would drop the slashes before an empty host."""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path}{query}"
