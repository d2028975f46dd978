"""Public pages for site owners: opt-out and erasure, proof of control, the politeness report; and the
IndexNow inlet. Limited by address, since anybody may send.
"""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import msgspec
from starlette.responses import JSONResponse, Response

from messor.access import ratelimits
from messor.access.errors import ThrottledError
from messor.access.ratelimits import Limit
from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.forms import read_body
from messor.console.listing import list_of
from messor.console.screens import PUBLIC, get, machine, post
from messor.errors import ConflictError, UsageError
from messor.fetch.identity import publication
from messor.fetch.txt_records import txt_records
from messor.governance import owners, politeness_report, pushes, site_proofs
from messor.governance.owner_queries import OWNER_REQUESTS
from messor.governance.owners import WISHES, OwnerRequest
from messor.governance.pushes import PushRefusedError

REQUEST = "/bot/requests/"
PER_ADDRESS = Limit(5, timedelta(hours=1))
PER_DAY = Limit(500, timedelta(days=1))  # all callers together
CHECKS = Limit(20, timedelta(minutes=10))
PUSHES = Limit(60, timedelta(minutes=1))
MAX_PUSH_BYTES = 4_000_000


async def show_form(call: ConsoleRequest) -> Response:
    return await _form(call)


async def _form(call: ConsoleRequest, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "bot/opt-out.html", status=status, wrong=wrong, form=call.form, wishes=WISHES,
        contact=call.context.settings.contact,
    )  # fmt: skip


async def ask(call: ConsoleRequest) -> Response:
    """Note a request; the page that follows says how to show control over the domain."""
    await _limit(call, "owner", PER_ADDRESS)
    (await ratelimits.take(call.context.database, "owner:everybody", PER_DAY)).require()
    form = call.form
    try:
        async with call.context.database.transaction() as connection:
            _, token = await owners.ask(
                connection, form.text("domain"), form.text("wish"),
                contact=form.words("contact"), source="form",
            )  # fmt: skip
    except (UsageError, ConflictError) as error:
        return await _form(call, str(error), 422)
    return call.go(f"{REQUEST}{token.reveal()}")


async def show_request(call: ConsoleRequest) -> Response:
    return await _request(call, await owners.find(call.context.database, call.part("token")))


async def _request(
    call: ConsoleRequest, request: OwnerRequest, *, wrong: str | None = None, status: int = 200
) -> Response:
    database, token = call.context.database, call.part("token")
    report = None
    if request.wish == "report" and request.state == "proved":
        report = await politeness_report.build(database, call.context.settings, request.domain)
    checked = None
    if request.state == "waiting":
        checked = await owners.file_standing(database, request)
    response = await call.page(
        "bot/request.html", status=status, wrong=wrong, found=request, wish=WISHES[request.wish],
        path=f"{REQUEST}{token}", file=site_proofs.FILE, checked=checked, report=report,
    )  # fmt: skip
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


async def check(call: ConsoleRequest) -> Response:
    """Look for the proof; by file, a worker fetches it in the site's lane."""
    await _limit(call, "owner-check", CHECKS)
    database = call.context.database
    request = await owners.find(database, call.part("token"))
    try:
        if call.form.text("by") == "file":
            async with database.transaction() as connection:
                await owners.check_file(connection, request)
        else:
            await owners.check_record(database, request, txt_records)
    except ConflictError as error:
        return await _request(call, request, wrong=str(error), status=409)
    return call.go(f"{REQUEST}{call.part('token')}")


async def download(call: ConsoleRequest) -> Response:
    """The signed politeness report, for whoever has shown control over the domain."""
    context = call.context
    request = await owners.find(context.database, call.part("token"))
    if request.wish != "report" or request.state != "proved":
        raise ConflictError("The report can be downloaded once control over the domain is shown.")
    signed = await politeness_report.signed(
        context.database, context.settings, context.seal, request.domain
    )
    headers = {"Content-Disposition": f'attachment; filename="{request.domain}-report.json"'}
    return Response(msgspec.json.encode(signed), media_type="application/json", headers=headers)


async def push(call: ConsoleRequest) -> Response:
    """IndexNow: an owner pushes URLs of an approved domain."""
    try:
        await _limit(call, "push", PUSHES)
        body = await read_body(call.request, MAX_PUSH_BYTES)
        taken = await pushes.take(call.context.database, pushes.understood(body))
    except PushRefusedError as error:
        return JSONResponse({"message": str(error)}, error.status)
    except ThrottledError as error:
        headers = {"Retry-After": str(error.retry_after)}
        return JSONResponse({"message": str(error)}, 429, headers)
    return JSONResponse({"message": taken.message}, taken.status)


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(
        call, OWNER_REQUESTS, "/rights/owners", choices={"wish": get_args(owners.Wish)}
    )
    return await call.page("rights/owners.html", listed=listed, wishes=WISHES)


async def _limit(call: ConsoleRequest, what: str, limit: Limit) -> None:
    key = ratelimits.key_of_address(what, call.origin.address)
    (await ratelimits.take(call.context.database, key, limit)).require()


MEMBERS = (get("/rights/owners", Act.DOMAINS_REVIEW, show_all),)
SCREENS = (
    get(publication.FORM, PUBLIC, show_form),
    post(publication.FORM, PUBLIC, ask),
    get(f"{REQUEST}{{token}}", PUBLIC, show_request),
    post(f"{REQUEST}{{token}}/check", PUBLIC, check),
    get(f"{REQUEST}{{token}}/report", PUBLIC, download),
    machine("/indexnow", push),
)
