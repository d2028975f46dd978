"""Attributes computed on first access, cheaper than `functools.cached_property`.

That one takes a lock for each; the values of a page are used by a single thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class lazy(Generic[Made]):  # noqa: N801 - it is written as a decorator
    """A method as an attribute; once computed it is stored in the instance, and found there."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Made:
        made = instance.__dict__[self._name] = self._make(instance)
        return made
