"""Submitting a domain or a single URL, and the immediate result."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.governance import domain_vertical, intake
from messor.governance.intake import SubmittedUrl
from messor.registry.domains import SUGGESTED_DELAY
from messor.registry.submissions import DEPTH_GUIDANCE, Submitted, Submitter
from messor.web.urls import parse


async def show(call: ConsoleRequest) -> Response:
    return await _form(call, address=call.query("address"))


async def submit(call: ConsoleRequest) -> Response:
    """Submit a domain for a name or homepage, or a single page for any other URL."""
    address = call.form.text("address").strip()
    try:
        answer = await submit_request(call, address, Submitter.of(call.member))
    except (UsageError, ConflictError) as error:
        return await _form(call, address=address, wrong=str(error), status=422)
    return await call.page("submit/answer.html", answer=answer, address=address, form=call.form)


async def submit_request(
    call: ConsoleRequest, address: str, submitter: Submitter
) -> Submitted | SubmittedUrl:
    """Submit a domain or one of its pages, in one transaction."""
    context = call.form.words("context")
    async with call.context.database.transaction() as connection:
        if is_one_page(address):
            accepted = call.form.is_on("accept")
            return await intake.submit_url(
                connection,
                address,
                submitter,
                context=context,
                vertical=call.form.words("vertical"),
                submit=accepted,
            )
        depth = call.form.whole("depth", "Maximum depth")
        return await intake.submit_domain(
            connection,
            address,
            submitter,
            context=context,
            max_crawl_depth=3 if depth is None else depth,
            delay=call.form.decimal("delay", "Delay"),
            vertical=call.form.words("vertical"),
        )


def is_one_page(address: str) -> bool:
    """Whether the input denotes a single page rather than a site."""
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
        delay=call.form.text("delay", str(SUGGESTED_DELAY)),
        guidance=DEPTH_GUIDANCE,
        verticals=await domain_vertical.offered(call.context.database),
        vertical=call.form.text("vertical") or call.query("vertical"),
    )


SCREENS = (
    get("/submit", Act.DOMAINS_SUBMIT, show),
    post("/submit", Act.DOMAINS_SUBMIT, submit),
)
