"""Screens: method, path, required permission and handler. Nothing else is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest

Handler = Callable[[ConsoleRequest], Awaitable[Response]]

PUBLIC = None  # instead of a permission: open to everyone


@dataclass(frozen=True, slots=True)
class Screen:
    """One route of the console."""

    method: str
    path: str
    act: Act | None
    handler: Handler
    takes_files: bool = False  # accepts multipart uploads
    is_for_programs: bool = False  # reads its body itself; no cookie counts, so none can be misused


def get(path: str, act: Act | None, handler: Handler) -> Screen:
    """A read-only page."""
    return Screen("GET", path, act, handler)


def post(path: str, act: Act | None, handler: Handler) -> Screen:
    """An action; the guard requires a CSRF token."""
    return Screen("POST", path, act, handler)


def machine(path: str, handler: Handler) -> Screen:
    """A public endpoint that programs post to, without a form and without a session."""
    return Screen("POST", path, PUBLIC, handler, is_for_programs=True)


def upload(path: str, act: Act, handler: Handler) -> Screen:
    """An action that accepts file uploads, and therefore larger bodies."""
    return Screen("POST", path, act, handler, takes_files=True)
