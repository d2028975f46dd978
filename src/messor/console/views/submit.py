"""Asking for a domain or a single URL, and what comes of it at once."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.governance import intake
from messor.governance.intake import SubmittedUrl
from messor.registry.submissions import DEPTH_GUIDANCE, Submitted, Submitter
from messor.web.urls import parse


async def show(call: ConsoleRequest) -> Response:
    return await _form(call, address=call.query("address"))


async def submit(call: ConsoleRequest) -> Response:
    """A name or a homepage asks for a domain; any other address for one page of it."""
    address = call.form.text("address").strip()
    try:
        answer = await ask(call, address, Submitter(call.actor))
    except (UsageError, ConflictError) as error:
        return await _form(call, address=address, wrong=str(error), status=422)
    return await call.page("submit/answer.html", answer=answer, address=address, form=call.form)


async def ask(call: ConsoleRequest, address: str, asker: Submitter) -> Submitted | SubmittedUrl:
    """Ask in one transaction, for a domain or for one page of it."""
    context = call.form.words("context")
    async with call.desk.database.transaction() as connection:
        if is_one_page(address):
            accepted = call.form.is_on("accept")
            return await intake.submit_url(
                connection, address, asker, context=context, submit=accepted
            )
        depth = call.form.whole("depth", "Depth")
        return await intake.submit_domain(
            connection,
            address,
            asker,
            context=context,
            max_crawl_depth=3 if depth is None else depth,
        )


def is_one_page(address: str) -> bool:
    """Whether somebody means one page, not the site."""
    url = parse(address if "://" in address else f"https://{address}")
    return url is not None and (url.path != "/" or bool(url.query))


async def _form(
    call: ConsoleRequest, *, address: str = "", wrong: str | None = None, status: int = 200
) -> Response:
    return await call.page(
        "submit/form.html",
        status=status,
        address=address,
        wrong=wrong,
        context=call.form.text("context"),
        depth=call.form.text("depth", "3"),
        guidance=DEPTH_GUIDANCE,
    )


SCREENS = (
    get("/submit", Act.DOMAINS_SUBMIT, show),
    post("/submit", Act.DOMAINS_SUBMIT, submit),
)
