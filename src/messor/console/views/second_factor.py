"""Two-factor authentication of the member's own account: set up, confirm, disable."""

from __future__ import annotations

import segno
from markupsafe import Markup
from starlette.responses import Response

from messor.access import members, second_factor
from messor.access.errors import AccessError, ThrottledError, WrongCredentialsError
from messor.access.members import Member
from messor.access.roles import Act
from messor.access.second_factor import Enrolment
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, NotFoundError

PLACE = "/account/two-factor"


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def begin(call: ConsoleRequest) -> Response:
    """Create a secret, shown until it is confirmed."""
    async with call.context.database.transaction() as connection:
        await second_factor.begin(connection, call.context.seal, await _me(call))
    return call.go(PLACE)


async def confirm(call: ConsoleRequest) -> Response:
    """Enable it with a first code; the recovery codes are shown once."""
    try:
        async with call.context.database.transaction() as connection:
            codes = await second_factor.confirm(
                connection,
                call.context.seal,
                await _me(call),
                call.form.text("code"),
                by=call.member,
            )
    except (WrongCredentialsError, NotFoundError, ConflictError) as error:
        return await _page(call, wrong=str(error), status=422)
    return await call.page("account/recovery_codes.html", codes=codes)


async def remove(call: ConsoleRequest) -> Response:
    """Disable it with a valid code."""
    try:
        await call.context.logins.remove_second_factor(
            call.member, call.form.text("code"), origin=call.origin
        )
    except AccessError as error:
        return await _page(
            call, wrong=str(error), status=429 if isinstance(error, ThrottledError) else 422
        )
    return call.go("/account", "Two-factor authentication is disabled.", "warning")


async def _me(call: ConsoleRequest) -> Member:
    assert call.member.member_id is not None, "console principals are members"
    return await members.get(call.context.database, call.member.member_id)


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    database, member = call.context.database, await _me(call)
    enrolment: Enrolment | None = None
    left = await second_factor.recovery_codes_left(database, member.id)
    if left is None:
        async with database.transaction() as connection:
            enrolment = await second_factor.pending(connection, call.context.seal, member)
    return await call.page(
        "account/two_factor.html",
        status=status,
        wrong=wrong,
        left=left,
        enrolment=enrolment,
        picture=_qr_code(enrolment) if enrolment else None,
    )


def _qr_code(enrolment: Enrolment) -> Markup:
    """The QR code as SVG; it contains no untrusted input."""
    drawn: str = segno.make(enrolment.uri, error="m").svg_inline(scale=5, border=3, light="#fff")
    return Markup(drawn)  # noqa: S704


SCREENS = (
    get(PLACE, Act.ACCOUNT_OWN, show),
    post(f"{PLACE}/begin", Act.ACCOUNT_OWN, begin),
    post(f"{PLACE}/confirm", Act.ACCOUNT_OWN, confirm),
    post(f"{PLACE}/remove", Act.ACCOUNT_OWN, remove),
)
