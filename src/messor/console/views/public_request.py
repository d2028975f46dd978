"""The public page where anonymous people request a domain; served only when enabled."""

from __future__ import annotations

from datetime import timedelta

from starlette.responses import Response

from messor.access import ratelimits
from messor.access.ratelimits import Limit
from messor.console.call import ConsoleRequest
from messor.console.screens import PUBLIC, get, post
from messor.console.views.submit import submit_request
from messor.errors import ConflictError, UsageError
from messor.governance import domain_vertical
from messor.governance.notices import STATUS_PATH
from messor.registry import submission_status
from messor.registry.submissions import Submitted, Submitter

PER_ADDRESS = Limit(5, timedelta(hours=1))
STATUS_PER_ADDRESS = Limit(60, timedelta(minutes=10))
PER_DAY = Limit(500, timedelta(days=1))  # all callers together, so the review queue stays readable
ACTOR = "public"
# Internal decisions and reasons are not revealed to anonymous callers.
PUBLIC_MESSAGES = {
    "approved": "is already crawled.",
    "suspended": "is currently not accepted.",
    "blacklisted": "is not accepted.",
}


async def show(call: ConsoleRequest) -> Response:
    return await _form(call)


async def submit(call: ConsoleRequest) -> Response:
    await _apply_limits(call)
    address = call.form.text("address").strip()
    try:
        submitter = Submitter(ACTOR, "public_user", call.form.words("contact"))
        answer = await submit_request(call, address, submitter)
    except (UsageError, ConflictError) as error:
        return await _form(call, wrong=str(error), status=422)
    message = answer.message
    if isinstance(answer, Submitted) and answer.outcome in PUBLIC_MESSAGES:
        message = f"{answer.domain.domain} {PUBLIC_MESSAGES[answer.outcome]}"
    elif answer.outcome == "refused":
        message = "This URL is not accepted."
    return await call.page(
        "submit/thanks.html",
        message=message,
        asks=answer.asks,
        address=address,
        form=call.form,
        status_path=f"{STATUS_PATH}{answer.token}" if answer.token else None,
    )


async def show_status(call: ConsoleRequest) -> Response:
    """The state of one submission, for whoever has its link."""
    key = ratelimits.key_of_address("status", call.origin.address)
    (await ratelimits.take(call.context.database, key, STATUS_PER_ADDRESS)).require()
    status = await submission_status.find(call.context.database, call.part("token"))
    response = await call.page("submit/status.html", found=status)
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


async def _apply_limits(call: ConsoleRequest) -> None:
    """Apply the limits per IP address and in total."""
    database = call.context.database
    key = ratelimits.key_of_address("ask", call.origin.address)
    (await ratelimits.take(database, key, PER_ADDRESS)).require()
    (await ratelimits.take(database, "ask:everybody", PER_DAY)).require()


async def _form(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    verticals = await domain_vertical.offered(call.context.database)
    return await call.page(
        "submit/public.html", status=status, wrong=wrong, form=call.form, verticals=verticals
    )


SCREENS = (
    get("/ask", PUBLIC, show),
    post("/ask", PUBLIC, submit),
    get(f"{STATUS_PATH}{{token}}", PUBLIC, show_status),
)
