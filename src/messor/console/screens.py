"""Screens: an address, a method, who may use it, and what answers. Nothing is served otherwise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest

Handler = Callable[[ConsoleRequest], Awaitable[Response]]

PUBLIC = None  # in place of an act: anybody may


@dataclass(frozen=True, slots=True)
class Screen:
    """One thing that can be asked of the console."""

    method: str
    path: str
    act: Act | None
    handler: Handler
    takes_files: bool = False  # others read plain forms only


def get(path: str, act: Act | None, handler: Handler) -> Screen:
    """Something to look at; it changes nothing."""
    return Screen("GET", path, act, handler)


def post(path: str, act: Act | None, handler: Handler) -> Screen:
    """Something to do; the guard demands the token of a form of ours."""
    return Screen("POST", path, act, handler)


def upload(path: str, act: Act, handler: Handler) -> Screen:
    """Something to do that takes files, and so a larger form."""
    return Screen("POST", path, act, handler, takes_files=True)
