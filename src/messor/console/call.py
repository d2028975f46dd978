"""One request as a screen handler sees it: the caller, the form and the response helpers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from messor.access import csrf, members
from messor.access.origin import Origin
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.access.secret import new_token
from messor.console import cookies
from messor.console.context import ConsoleContext
from messor.console.cookies import FlashMessage
from messor.console.forms import Form
from messor.console.navigation import MenuGroup, menu_for
from messor.errors import NotFoundError
from messor.ledger.alarms import Alarm
from messor.registry import review

MAX_VALUE_LENGTH = 2_000  # characters of one query parameter


@dataclass(slots=True)
class ConsoleRequest:
    """An authorised request; `principal` is None for anonymous callers."""

    request: Request
    context: ConsoleContext
    principal: Principal | None = None
    form: Form = field(default_factory=Form)
    _visitor: str | None = None  # created for this response when the request had none

    @property
    def member(self) -> Principal:
        """The caller of a non-public screen."""
        assert self.principal is not None, "the guard admits members only"
        return self.principal

    @property
    def actor(self) -> str:
        return self.member.actor

    @property
    def origin(self) -> Origin:
        client = self.request.client
        return Origin(client.host if client else None, self.request.headers.get("user-agent"))

    @property
    def is_partial(self) -> bool:
        """Whether htmx requests a fragment; a history restore needs the whole page."""
        headers = self.request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    @property
    def cookie(self) -> str | None:
        """The cookie that CSRF tokens of this caller are bound to."""
        name = cookies.VISITOR if self.principal is None else cookies.SESSION
        return cookies.read(self.request, name)

    def may(self, act: Act) -> bool:
        return self.principal is not None and self.principal.may(act)

    @property
    def menu(self) -> list[MenuGroup]:
        return menu_for(self.principal) if self.principal else []

    def query(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default).replace("\x00", "")[:MAX_VALUE_LENGTH]

    def part(self, name: str) -> str:
        """A text parameter of the path."""
        value: str = self.request.path_params[name]
        if "\x00" in value or len(value) > MAX_VALUE_LENGTH:
            raise NotFoundError("Page not found.")
        return value

    def number(self, name: str) -> int:
        """An integer parameter of the path."""
        value: int = self.request.path_params[name]
        return value

    async def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Render a full page with menu, flash message, halt and alarms."""
        waiting = halt = None
        alarms: list[Alarm] = []
        names: dict[str, str] = {}
        if self.may(Act.READ):
            halt = await self.context.board.halt.get()
            alarms = await self.context.board.alarms.get()
            names = await self.names({halt.halted_by}) if halt else {}
        if self.may(Act.DOMAINS_REVIEW):
            waiting = await review.count(self.context.database)
        flash = cookies.unseal(cookies.read(self.request, cookies.FLASH), self.cookie)
        shared = {"flash": flash, "waiting": waiting, "halt": halt, "halt_names": names}
        response = self.bare(template, status=status, **{"alarms": alarms, **shared, **values})
        if cookies.read(self.request, cookies.FLASH) is not None:
            cookies.clear(self.request, response, cookies.FLASH)
        return response

    def bare(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Render a template without database access, for fragments and errors."""
        response = HTMLResponse(self.draw(template, **values), status)
        if self._visitor is not None:
            cookies.write(self.request, response, cookies.VISITOR, self._visitor)
        return response

    def draw(self, template: str, **values: Any) -> str:
        """Render a template to text."""
        defaults: dict[str, Any] = {
            "call": self,
            "me": self.principal,
            "menu": self.menu,
            "path": self.request.url.path,
            "theme": cookies.theme_of(self.request),
            "csrf": self._csrf,
            "Act": Act,
            "flash": None,
            "waiting": None,
            "halt": None,
            "alarms": [],
        }
        return self.context.templates.get_template(template).render({**defaults, **values})

    def go(self, path: str, message: str | None = None, tone: str = "success") -> Response:
        """Redirect to another page of the console, with an optional flash message."""
        response = RedirectResponse(path, 303)
        if message is not None and self.cookie is not None:
            sealed = cookies.seal(FlashMessage(message, tone), self.cookie)
            cookies.write(self.request, response, cookies.FLASH, sealed, seconds=60)
        return response

    async def names(self, actors: set[str]) -> dict[str, str]:
        """Display names of actors."""
        return await members.names(self.context.database, actors)

    def _csrf(self) -> str:
        cookie = self.cookie or self._visitor
        if cookie is None:
            cookie = self._visitor = new_token().reveal()
        return csrf.csrf_token(cookie)
