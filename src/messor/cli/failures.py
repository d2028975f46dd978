"""What libraries raise past everybody else, in one sentence; the entry point prints it.

Rooms translate what they expect. What is left comes from outside: the database, files, sockets.
A fault of Messor's own is not dressed up: it keeps its trace.
"""

from __future__ import annotations

import sys

from messor.core.full_disk import is_full


def in_words(error: Exception) -> str | None:
    """What went wrong and what to do; None for a fault of ours."""
    if is_full(error):
        return (
            f"a disk is full ({error}). Free some space and run the command again; a file that it "
            "was writing is incomplete."
        )
    return _of_the_database(error) or _of_the_system(error)


def _of_the_database(error: Exception) -> str | None:
    asyncpg = sys.modules.get("asyncpg")  # not loaded for commands that need no database
    if asyncpg is None:
        return None
    if isinstance(error, asyncpg.PostgresError):
        said = str(error).partition("\n")[0].rstrip(".")
        return f"The database could not do this: {said}. Look at it: messor doctor"
    if isinstance(error, (asyncpg.InterfaceError, asyncpg.InternalClientError)):
        return "The connection to the database was lost. Try again, or look: messor doctor"
    return None


def _of_the_system(error: Exception) -> str | None:
    if isinstance(error, BrokenPipeError):
        return "Whoever read the output has gone."
    if isinstance(error, TimeoutError):
        return "No answer came in time. Try again, or look: messor doctor"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return None
