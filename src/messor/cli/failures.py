"""One-sentence messages for library errors that no package handled; the entry point prints them.

Packages translate the errors they expect. The rest comes from the database, files and sockets.
A bug in Messor keeps its traceback.
"""

from __future__ import annotations

import sys

from messor.core.full_disk import is_full


def describe(error: Exception) -> str | None:
    """Return what went wrong and what to do; None for a bug in Messor."""
    if is_full(error):
        return (
            f"a disk is full ({error}). Free some space and run the command again; the file it was "
            "writing is incomplete."
        )
    return _describe_database_error(error) or _describe_system_error(error)


def _describe_database_error(error: Exception) -> str | None:
    asyncpg = sys.modules.get("asyncpg")  # not loaded for commands that need no database
    if asyncpg is None:
        return None
    if isinstance(error, asyncpg.PostgresError):
        message = str(error).partition("\n")[0].rstrip(".")
        return f"The database returned an error: {message}. To check it: messor doctor"
    if isinstance(error, (asyncpg.InterfaceError, asyncpg.InternalClientError)):
        return "The connection to the database was lost. Try again, or check it: messor doctor"
    return None


def _describe_system_error(error: Exception) -> str | None:
    if isinstance(error, BrokenPipeError):
        return "The output was closed by its reader."
    if isinstance(error, TimeoutError):
        return "The operation timed out. Try again, or check the system: messor doctor"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return None
