"""Relevance of pages: flags of a vertical and their review, and unproductive pages."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import discovery_labels
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.insight.relevance import review
from messor.insight.relevance.queries import FLAGS, UNPRODUCTIVE_PAGES
from messor.insight.relevance.topics import topic_named


async def show_flags(call: ConsoleRequest) -> Response:
    name = call.part("name")
    _, values = await discovery_labels.about(call, name)
    path = f"/verticals/{name}/flags"
    listed = await list_of(call, FLAGS, path, vertical=name)
    actors = {flag.decided_by for flag in listed.items if flag.decided_by}
    return await call.page(
        "relevance/flags.html", listed=listed, names=await call.names(actors), **values
    )


async def decide(call: ConsoleRequest) -> Response:
    """A reviewer says whether a flagged page is relevant."""
    name, verdict = call.part("name"), call.form.text("relevant")
    if verdict not in ("yes", "no"):
        raise UsageError("Choose relevant or irrelevant.")
    async with call.context.database.transaction() as connection:
        done = await review.decide_as(
            connection,
            await topic_named(connection, name),
            call.form.text("page"),
            relevant=verdict == "yes",
            actor=call.actor,
            reason=call.form.words("reason") or "",
        )
    message = f"{done.url} is {'relevant' if done.relevant else 'irrelevant'}."
    return call.go(within(call.form.text("back"), f"/verticals/{name}/flags"), message)


async def show_unproductive(call: ConsoleRequest) -> Response:
    listed = await list_of(call, UNPRODUCTIVE_PAGES, "/unproductive-pages")
    return await call.page("relevance/unproductive.html", listed=listed)


SCREENS = (
    get("/verticals/{name}/flags", Act.READ, show_flags),
    post("/verticals/{name}/flags", Act.DOMAINS_REVIEW, decide),
    get("/unproductive-pages", Act.READ, show_unproductive),
)
