"""The member's own account: password, sessions and API keys."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from messor.access import key_policies, keys, members, second_factor, sessions
from messor.access.errors import AccessError, ThrottledError
from messor.access.key_policies import DEFAULT_DEPTH, DEFAULT_PAGES, MOST_DEPTH, MOST_PAGES
from messor.access.keys import MOST_DAYS, USUAL_DAYS
from messor.access.roles import Act, key_acts_of
from messor.access.secret import Secret
from messor.console import cookies
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import ConflictError, NotFoundError, UsageError


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def change_password(call: ConsoleRequest) -> Response:
    """End all sessions and open a new one for this browser."""
    form = call.form
    try:
        if form.text("new") != form.text("again"):
            return await _page(call, wrong="The passwords do not match.", status=422)
        opened = await call.context.logins.change_password(
            call.member, current=form.text("current"), new=form.text("new"), origin=call.origin
        )
    except (AccessError, UsageError) as error:
        return await _page(
            call, wrong=str(error), status=429 if isinstance(error, ThrottledError) else 422
        )
    response = call.go("/account")
    cookies.write(call.request, response, cookies.SESSION, opened.token.reveal())
    return response


async def end_session(call: ConsoleRequest) -> Response:
    """End one session, or all but the current one."""
    which = call.form.text("session")
    async with call.context.database.transaction() as connection:
        if which == "others":
            count = await sessions.revoke_all(
                connection, _me(call), by=call.member, but=call.member.session_id
            )
            return call.go("/account", f"{count} other sessions were ended.")
        await sessions.revoke(connection, _me(call), _uuid(which), by=call.member)
    return call.go("/account", "The session was ended.")


async def make_key(call: ConsoleRequest) -> Response:
    """Create a key; only the response shows it."""
    form = call.form
    try:
        days = form.whole("days", "Days")
        known = {act.value: act for act in Act}
        scopes = [known[name] for name in form.every("scope") if name in known]
        async with call.context.database.transaction() as connection:
            member = await members.get(connection, _me(call))
            _, secret = await keys.create(
                connection,
                member,
                name=form.text("name"),
                scopes=scopes,
                by=call.member,
                days=USUAL_DAYS if days is None else days,
            )
    except (UsageError, ConflictError) as error:
        return await _page(call, wrong=str(error), status=422)
    return await _page(call, secret=secret)


async def revoke_key(call: ConsoleRequest) -> Response:
    async with call.context.database.transaction() as connection:
        key = await keys.get(connection, _uuid(call.part("key_id")), by=call.member)
        await keys.revoke(connection, key, by=call.member)
    back = "/account" if key.member_id == call.member.member_id else "/keys"
    return call.go(back, f"The key {key.name} was revoked.")


async def show_all_keys(call: ConsoleRequest) -> Response:
    """The keys of all members, for admins."""
    database = call.context.database
    rows = await keys.listing(database, by=call.member, limit=500)
    policies = await key_policies.of_keys(database, [row.id for row in rows])
    return await call.page(
        "members/keys.html",
        rows=rows,
        policies=policies,
        may_set_policies=call.member.may(Act.DOMAINS_REVIEW),
    )


async def show_policy(call: ConsoleRequest) -> Response:
    return await _policy_page(call)


async def set_policy(call: ConsoleRequest) -> Response:
    """Let a key approve domains on first use, or no longer."""
    form = call.form
    try:
        async with call.context.database.transaction() as connection:
            key = await keys.get(connection, _uuid(call.part("key_id")), by=call.member)
            if form.text("act") == "drop":
                await key_policies.drop(connection, key, by=call.member)
            else:
                depth, pages = form.whole("depth", "Depth"), form.whole("pages", "Pages a day")
                await key_policies.give(
                    connection,
                    key,
                    domains=form.text("domains").replace(",", " ").split(),
                    by=call.member,
                    max_depth=DEFAULT_DEPTH if depth is None else depth,
                    pages_a_day=DEFAULT_PAGES if pages is None else pages,
                )
    except UsageError as error:
        return await _policy_page(call, wrong=str(error), status=422)
    return call.go("/account", f"The policy of {key.name} was changed.")


async def _policy_page(
    call: ConsoleRequest, *, wrong: str | None = None, status: int = 200
) -> Response:
    key = await keys.get(call.context.database, _uuid(call.part("key_id")), by=call.member)
    policies = await key_policies.of_keys(call.context.database, [key.id])
    return await call.page(
        "account/policy.html",
        status=status,
        wrong=wrong,
        key=key,
        policy=policies.get(key.id),
        default_depth=DEFAULT_DEPTH,
        default_pages=DEFAULT_PAGES,
        max_depth=MOST_DEPTH,
        max_pages=MOST_PAGES,
    )


def _me(call: ConsoleRequest) -> UUID:
    member_id = call.member.member_id
    assert member_id is not None, "console principals are members"
    return member_id


def _uuid(text: str) -> UUID:
    found = as_uuid(text)
    if found is None:
        raise NotFoundError("Not found.")
    return found


async def _page(
    call: ConsoleRequest,
    *,
    wrong: str | None = None,
    secret: Secret | None = None,
    status: int = 200,
) -> Response:
    database, member = call.context.database, call.member
    own = await keys.listing(database, by=member, member_id=_me(call), limit=100)
    return await call.page(
        "account/page.html",
        status=status,
        wrong=wrong,
        secret=secret.reveal() if secret else None,
        sessions=await sessions.listing(database, _me(call), by=member),
        keys=own,
        policies=await key_policies.of_keys(database, [key.id for key in own]),
        may_set_policies=member.may(Act.DOMAINS_REVIEW),
        asks_old=await call.context.logins.must_show_the_old_password(member),
        scopes=sorted(key_acts_of(member.role)),
        has_second_factor=await second_factor.recovery_codes_left(database, _me(call)) is not None,
        default_days=USUAL_DAYS,
        max_days=MOST_DAYS,
    )


SCREENS = (
    get("/account", Act.ACCOUNT_OWN, show),
    post("/account/password", Act.ACCOUNT_OWN, change_password),
    post("/account/sessions", Act.ACCOUNT_OWN, end_session),
    post("/account/keys", Act.ACCOUNT_OWN, make_key),
    get("/account/keys/{key_id}/policy", Act.DOMAINS_REVIEW, show_policy),
    post("/account/keys/{key_id}/policy", Act.DOMAINS_REVIEW, set_policy),
    post("/account/keys/{key_id}/revoke", Act.ACCOUNT_OWN, revoke_key),
    get("/keys", Act.MEMBERS_MANAGE, show_all_keys),
)
