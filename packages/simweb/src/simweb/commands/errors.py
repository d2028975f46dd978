"""Errors of the simulated web as Messor's errors, so that commands exit with the usual codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from messor.errors import UnavailableError, UsageError
from simweb.errors import MarketError, WorldUnavailableError


@contextmanager
def as_messor_errors() -> Iterator[None]:
    """Translates errors of the simulated web to Messor's."""
    try:
        yield
    except WorldUnavailableError as error:
        raise UnavailableError(str(error)) from error
    except MarketError as error:
        raise UsageError(str(error)) from error
