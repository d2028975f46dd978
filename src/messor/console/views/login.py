"""Login, one-time links, the first admin, logout and the theme."""

from __future__ import annotations

from starlette.responses import Response

from messor.access import links, sessions
from messor.access.errors import AccessError, CodeNeededError, SessionEndedError, ThrottledError
from messor.access.roles import Act
from messor.access.sessions import OpenedSession
from messor.console import cookies
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.screens import PUBLIC, get, post
from messor.errors import MessorError, UsageError


async def show_login(call: ConsoleRequest) -> Response:
    target = within(call.query("next"))
    if call.principal is not None:
        return call.go(target)
    return await call.page("login.html", next=target, email="", wrong=None)


async def log_in(call: ConsoleRequest) -> Response:
    target, email = within(call.form.text("next")), call.form.text("email")
    try:
        opened = await call.context.logins.log_in(email, call.form.text("password"), call.origin)
    except CodeNeededError as error:
        return await _code_page(call, error, target)
    except AccessError as error:
        return await _refuse(call, "login.html", error, next=target, email=email)
    return enter(call, opened, target)


async def answer_challenge(call: ConsoleRequest) -> Response:
    """Check the second-factor code after password or link."""
    target, token = within(call.form.text("next")), call.form.text("challenge")
    try:
        opened = await call.context.logins.answer_challenge(
            token, call.form.text("code"), call.origin
        )
    except SessionEndedError as error:
        return await _refuse(call, "login.html", error, next=target, email="")
    except AccessError as error:
        return await _refuse(call, "login_code.html", error, next=target, challenge=token)
    return enter(call, opened, target)


async def _code_page(call: ConsoleRequest, needed: CodeNeededError, target: str) -> Response:
    token = needed.token.reveal()
    return await call.page("login_code.html", next=target, challenge=token, wrong=None)


async def _refuse(
    call: ConsoleRequest, template: str, error: AccessError, **values: str
) -> Response:
    status = 429 if isinstance(error, ThrottledError) else 401
    page = await call.page(template, status=status, wrong=str(error), **values)
    if isinstance(error, ThrottledError):
        page.headers["Retry-After"] = str(error.retry_after)
    return page


async def show_link(call: ConsoleRequest) -> Response:
    """Ask for confirmation before a link is used, because browsers prefetch links."""
    link = await links.peek(call.context.database, call.part("token"))
    return await call.page(
        _link_page(link.purpose), token=call.part("token"), wrong=None, form=call.form
    )


async def use_link(call: ConsoleRequest) -> Response:
    token, logins = call.part("token"), call.context.logins
    link = await links.peek(call.context.database, token)
    if link.purpose == "login":
        try:
            return enter(call, await logins.log_in_by_link(token, call.origin), "/")
        except CodeNeededError as error:
            return await _code_page(call, error, "/")
    try:
        if call.form.text("password") != call.form.text("again"):
            raise UsageError("The passwords do not match.")
        opened = await logins.make_first_admin(
            token,
            email=call.form.text("email"),
            name=call.form.text("name"),
            password=call.form.text("password"),
            origin=call.origin,
        )
    except AccessError:
        raise
    except MessorError as error:
        return await call.page(
            _link_page(link.purpose), status=422, token=token, wrong=str(error), form=call.form
        )
    return enter(call, opened, "/")


async def log_out(call: ConsoleRequest) -> Response:
    async with call.context.database.transaction() as connection:
        await sessions.log_out(connection, call.member)
    response = call.go("/login")
    cookies.clear(call.request, response, cookies.SESSION)
    return response


async def set_theme(call: ConsoleRequest) -> Response:
    theme = call.form.text("theme")
    if theme not in cookies.THEMES:
        raise UsageError(f"The theme must be one of {', '.join(cookies.THEMES)}.")
    response = call.go(within(call.form.text("back")))
    cookies.write(call.request, response, cookies.THEME, theme, seconds=31_536_000)
    return response


def enter(call: ConsoleRequest, opened: OpenedSession, target: str) -> Response:
    """Redirect into the console and set the session cookie."""
    response = call.go(target)
    cookies.write(call.request, response, cookies.SESSION, opened.token.reveal())
    cookies.clear(call.request, response, cookies.VISITOR)
    return response


def _link_page(purpose: str) -> str:
    return "first_admin.html" if purpose == "first_admin" else "login_link.html"


SCREENS = (
    get("/login", PUBLIC, show_login),
    post("/login", PUBLIC, log_in),
    post("/login/code", PUBLIC, answer_challenge),
    get("/link/{token}", PUBLIC, show_link),
    post("/link/{token}", PUBLIC, use_link),
    post("/logout", Act.ACCOUNT_OWN, log_out),
    post("/theme", Act.ACCOUNT_OWN, set_theme),
)
