"""Attributes computed on first access, cheaper than `functools.cached_property`.

That one takes a lock for each; the values of a page are used by a single thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - it is written as a decorator
    """A method as an attribute; once computed it is stored in the instance, and found there."""

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        made = instance.__dict__[self._name] = self._make(instance)
        return made
