"""The public page: people without an account ask for a domain. Served only when it is switched on."""

from __future__ import annotations

from datetime import timedelta

from starlette.responses import Response

from messor.access import ratelimits
from messor.access.ratelimits import Limit
from messor.console.call import ConsoleRequest
from messor.console.screens import PUBLIC, get, post
from messor.console.views.submit import ask
from messor.errors import ConflictError, UsageError
from messor.registry.submissions import Submitted, Submitter

PER_ADDRESS = Limit(5, timedelta(hours=1))
PER_DAY = Limit(500, timedelta(days=1))  # of everybody together: a queue that people can read
ACTOR = "public"
# What was decided inside, and why, is not told to strangers.
PLAIN = {
    "approved": "is harvested already.",
    "suspended": "is not taken at the moment.",
    "blacklisted": "is not taken.",
}


async def show(call: ConsoleRequest) -> Response:
    return await _form(call)


async def submit(call: ConsoleRequest) -> Response:
    await _ration(call)
    address = call.form.text("address").strip()
    try:
        asker = Submitter(ACTOR, "public_user", call.form.words("contact"))
        answer = await ask(call, address, asker)
    except (UsageError, ConflictError) as error:
        return await _form(call, wrong=str(error), status=422)
    said = answer.said
    if isinstance(answer, Submitted) and answer.outcome in PLAIN:
        said = f"{answer.domain.domain} {PLAIN[answer.outcome]}"
    elif answer.outcome == "refused":
        said = "This address is not taken."
    return await call.page(
        "submit/thanks.html", told=said, asks=answer.asks, address=address, form=call.form
    )


async def _ration(call: ConsoleRequest) -> None:
    """So many from one address, and so many from all."""
    database = call.desk.database
    key = ratelimits.key_of_address("ask", call.origin.address)
    (await ratelimits.take(database, key, PER_ADDRESS)).require()
    (await ratelimits.take(database, "ask:everybody", PER_DAY)).require()


async def _form(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page("submit/public.html", status=status, wrong=wrong, form=call.form)


SCREENS = (
    get("/ask", PUBLIC, show),
    post("/ask", PUBLIC, submit),
)
