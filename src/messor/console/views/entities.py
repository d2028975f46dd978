"""Things: what records of many pages are about, proposals, and decisions about what is one."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import evidence
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.entities import decisions, queries
from messor.entities.kinds import KINDS
from messor.entities.queries import ENTITIES, PROPOSALS, FullEntity
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError

LABELS = {name: kind.plural for name, kind in KINDS.items()}
TABS = (("", "All"), *LABELS.items())
# Beside the name, in lists of a kind.
COLUMNS = {
    "organisation": ("phone", "email", "locality"),
    "product": ("brand", "mpn", "category"),
    "program": ("funder", "amount", "deadline"),
    "service": ("provider", "area", "price"),
    "place": ("postal_code", "locality", "name"),
}
TROUBLE = (ConflictError, NotFoundError, UsageError)


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, ENTITIES, "/entities", labels={"kind": LABELS})
    return await call.page(
        "entities/list.html",
        listed=listed,
        kinds=LABELS,
        tabs=TABS,
        columns=COLUMNS.get(listed.given.get("kind", ""), ()),
        as_text=evidence.as_text,
    )


async def show(call: ConsoleRequest) -> Response:
    return await _page(call, call.number("entity_id"))


async def _page(call: ConsoleRequest, entity_id: int, wrong: str | None = None) -> Response:
    found = await queries.entity(call.context.database, entity_id)
    names = await call.names({each.decided_by for each in found.bases if each.decided_by})
    return await call.page(
        "entities/entity.html",
        status=422 if wrong else 200,
        entity=found,
        kind=KINDS[found.kind],
        domains={each.id: each.domain for each in found.members},
        names=names,
        wrong=wrong,
        as_text=evidence.as_text,
        has_prices=any(each.data.get("price") is not None for each in found.members),
    )


async def show_proposals(call: ConsoleRequest, wrong: str | None = None) -> Response:
    listed = await list_of(call, PROPOSALS, "/entities/proposals", labels={"kind": LABELS})
    return await call.page(
        "entities/proposals.html",
        status=422 if wrong else 200,
        listed=listed,
        kinds=LABELS,
        tabs=TABS,
        wrong=wrong,
    )


async def decide(call: ConsoleRequest) -> Response:
    verdict = call.form.text("verdict")
    try:
        async with call.context.database.transaction() as connection:
            await decisions.decide(
                connection,
                call.number("proposal_id"),
                verdict,
                actor=call.actor,
                reason=_reason(call),
            )
    except TROUBLE as error:
        return await show_proposals(call, str(error))
    words = "They are one thing now." if verdict == "same" else "They stay two things."
    return call.go("/entities/proposals", words)


async def merge(call: ConsoleRequest) -> Response:
    entity_id, other = call.number("entity_id"), call.form.text("with_id").strip()
    try:
        if not other.isdecimal() or len(other) > 18:
            raise UsageError("Give the number of the other thing, as in its address.")
        async with call.context.database.transaction() as connection:
            whole = await decisions.merge(
                connection, entity_id, int(other), actor=call.actor, reason=_reason(call)
            )
    except TROUBLE as error:
        return await _again(call, entity_id, error)
    return _done(call, whole, "They are one thing now.")


async def split(call: ConsoleRequest) -> Response:
    entity_id = call.number("entity_id")
    try:
        statement = call.form.text("statement_id").strip()
        if not statement.isdecimal() or len(statement) > 18:
            raise UsageError("Choose the statement that is about something else.")
        async with call.context.database.transaction() as connection:
            await decisions.split(
                connection, entity_id, int(statement), actor=call.actor, reason=_reason(call)
            )
    except TROUBLE as error:
        return await _again(call, entity_id, error)
    return call.go(f"/entities/{entity_id}", "Taken out; it is a thing of its own now.")


async def _again(call: ConsoleRequest, entity_id: int, error: MessorError) -> Response:
    return await _page(call, entity_id, str(error))


def _done(call: ConsoleRequest, whole: FullEntity, words: str) -> Response:
    return call.go(f"/entities/{whole.id}", words)


def _reason(call: ConsoleRequest) -> str | None:
    return call.form.text("reason").strip() or None


SCREENS = (
    get("/entities", Act.READ, show_all),
    get("/entities/proposals", Act.READ, show_proposals),
    post("/entities/proposals/{proposal_id:int}", Act.DOMAINS_REVIEW, decide),
    get("/entities/{entity_id:int}", Act.READ, show),
    post("/entities/{entity_id:int}/merge", Act.DOMAINS_REVIEW, merge),
    post("/entities/{entity_id:int}/split", Act.DOMAINS_REVIEW, split),
)
