"""The audit log: every action and outcome with its actor, filters and a cursor."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.errors import NotFoundError, UsageError
from messor.ledger import audit
from messor.ledger.audit import AuditFilter
from messor.ledger.event_types import GROUPS
from messor.ledger.events import Cursor
from messor.registry import domains
from messor.registry.domains import Submission

PER_PAGE = 50
MAX_LENGTH = 200


async def show(call: ConsoleRequest) -> Response:
    kind, actor = call.query("kind"), call.query("actor").strip()[:MAX_LENGTH]
    name, q = call.query("domain").strip(), call.query("q").strip().lower()[:MAX_LENGTH]
    wrong, domain_id = None, None
    try:
        if name:
            found = await domains.get(call.context.database, Submission.understand(name).domain)
            domain_id = found.id
    except (UsageError, NotFoundError) as error:
        wrong = str(error)
    wanted = AuditFilter(kind if kind in GROUPS else None, actor or None, domain_id, q or None)
    found_now = await audit.read(
        call.context.database, wanted, before=_cursor(call.query("before")), limit=PER_PAGE
    )
    keeping = {"kind": kind, "actor": actor, "domain": name, "q": q}
    reached = found_now.reached
    more = with_query("/audit", before=f"{reached.tx}_{reached.id}", **keeping) if reached else None
    rows = [] if wrong else found_now.events
    return await call.page(
        "events/audit.html",
        rows=rows,
        more=more,
        first=with_query("/audit", **keeping) if call.query("before") else None,
        names=await call.names({row.actor for row in rows} | {actor}),
        wrong=wrong,
        kinds=GROUPS,
        kind=kind,
        actor=actor,
        domain=name,
        q=q,
    )


def _cursor(text: str) -> Cursor | None:
    tx, _, key = text.partition("_")
    if tx.isdecimal() and key.isdecimal() and len(text) < 38:
        return Cursor(min(int(tx), 2**63 - 1), min(int(key), 2**63 - 1))
    return None


SCREENS = (get("/audit", Act.AUDIT_READ, show),)
