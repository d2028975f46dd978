"""One request as a screen sees it: who calls, what they sent, and how to answer."""

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
from messor.console.cookies import FlashMessage
from messor.console.desk import ConsoleContext
from messor.console.forms import Form
from messor.console.navigation import menu_for
from messor.errors import NotFoundError
from messor.ledger.alarms import Alarm
from messor.registry import review

LONGEST_QUERY = 2_000  # characters of one value in an address


@dataclass(slots=True)
class ConsoleRequest:
    """A request that the guard let through, and its caller; None is anybody."""

    request: Request
    desk: ConsoleContext
    principal: Principal | None = None
    form: Form = field(default_factory=Form)
    _visitor: str | None = None  # made for this answer, because there was none

    @property
    def member(self) -> Principal:
        """The caller of a screen that is not public."""
        assert self.principal is not None, "the guard lets nobody else in"
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
        """Whether htmx wants a part of the page; history restores want all of it."""
        headers = self.request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    @property
    def cookie(self) -> str | None:
        """What forms of this caller are bound to."""
        name = cookies.VISITOR if self.principal is None else cookies.SESSION
        return cookies.read(self.request, name)

    def may(self, act: Act) -> bool:
        return self.principal is not None and self.principal.may(act)

    def query(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default).replace("\x00", "")[:LONGEST_QUERY]

    def part(self, name: str) -> str:
        """A part of the path."""
        value: str = self.request.path_params[name]
        if "\x00" in value or len(value) > LONGEST_QUERY:
            raise NotFoundError("There is nothing at this address.")
        return value

    def number(self, name: str) -> int:
        """A whole number of the path."""
        value: int = self.request.path_params[name]
        return value

    async def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A whole page, with the menu and what there is to say."""
        waiting = halt = None
        alarms: list[Alarm] = []
        names: dict[str, str] = {}
        if self.may(Act.READ):
            halt = await self.desk.board.halt.get()
            alarms = await self.desk.board.alarms.get()
            names = await self.names({halt.halted_by}) if halt else {}
        if self.may(Act.DOMAINS_REVIEW):
            waiting = await review.count(self.desk.database)
        said = cookies.unseal(cookies.read(self.request, cookies.SAID), self.cookie)
        given = {"said": said, "waiting": waiting, "halt": halt, "halt_names": names}
        told = {"alarms": alarms, **given, **values}
        response = self.bare(template, status=status, **told)
        if cookies.read(self.request, cookies.SAID) is not None:
            cookies.clear(self.request, response, cookies.SAID)
        return response

    def bare(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """A template without asking the database for anything: for parts, and for errors."""
        response = HTMLResponse(self.draw(template, **values), status)
        if self._visitor is not None:
            cookies.write(self.request, response, cookies.VISITOR, self._visitor)
        return response

    def draw(self, template: str, **values: Any) -> str:
        """A template as text."""
        given: dict[str, Any] = {
            "call": self,
            "me": self.principal,
            "menu": menu_for(self.principal) if self.principal else [],
            "path": self.request.url.path,
            "theme": cookies.theme_of(self.request),
            "csrf": self._csrf,
            "Act": Act,
            "said": None,
            "waiting": None,
            "halt": None,
            "alarms": [],
        }
        return self.desk.templates.get_template(template).render({**given, **values})

    def go(self, path: str, said: str | None = None, tone: str = "success") -> Response:
        """To another page of the console, with a message for it."""
        response = RedirectResponse(path, 303)
        if said is not None and self.cookie is not None:
            sealed = cookies.seal(FlashMessage(said, tone), self.cookie)
            cookies.write(self.request, response, cookies.SAID, sealed, seconds=60)
        return response

    async def names(self, actors: set[str]) -> dict[str, str]:
        """What people call those who did something."""
        return await members.names(self.desk.database, actors)

    def _csrf(self) -> str:
        cookie = self.cookie or self._visitor
        if cookie is None:
            cookie = self._visitor = new_token().reveal()
        return csrf.csrf_token(cookie)
