"""Attributes that are made when they are first asked for, at less cost than `functools` has it.

Its `cached_property` takes a lock for each; what is made for one page is asked for by one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class lazy(Generic[Made]):  # noqa: N801 - it is written as a decorator
    """A method as an attribute; once it is made it stands in the instance, and is found there."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Made:
        made = instance.__dict__[self._name] = self._make(instance)
        return made
