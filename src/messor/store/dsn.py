"""DSNs of PostgreSQL as text: another database, one more setting, and a DSN without its secrets.

A DSN may name hosts in ways that Python's URL parser cannot put together again (several hosts, a
socket's folder in percent signs), so only its path, its query and its login are touched.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from messor.errors import UsageError

# libpq takes these from the environment instead; for `sslpassword` it has no variable.
_SECRETS = {"password": "PGPASSWORD"}
_UNSPEAKABLE = "sslpassword"


def socket_dsn(role: str, database: str, *, socket: Path, port: int, passfile: Path) -> str:
    """A DSN that holds no secret: the driver reads the password from a file at each connect."""
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
    """The DSN for the command line of one of PostgreSQL's programs, and the environment to add.

    Everybody on the machine can read command lines; an environment is its owner's alone.
    """
    if "://" not in dsn:
        raise UsageError("MESSOR_DATABASE_URL is wrong: it must begin with postgresql://")
    parts = urlsplit(dsn)
    login, at, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    secrets = {"PGPASSWORD": unquote(password)} if password else {}
    kept: list[tuple[str, str]] = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == _UNSPEAKABLE:
            raise UsageError(
                "psql and pg_dump take sslpassword on the command line only, where everybody can "
                "read it: use a client key without a passphrase, readable by its owner alone."
            )
        if name in _SECRETS:
            secrets[_SECRETS[name]] = value
        else:
            kept.append((name, value))
    query = urlencode(kept, quote_via=quote, safe="")
    return _joined(parts._replace(netloc=f"{user}{at}{hosts}", query=query)), secrets


def _joined(parts: SplitResult) -> str:
    """As it was: `urlunsplit` would drop the slashes before an empty host."""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path}{query}"
