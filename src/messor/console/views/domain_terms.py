"""Saving the crawl settings of a domain."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import domain_path
from messor.console.call import ConsoleRequest
from messor.console.forms import Form
from messor.console.screens import post
from messor.console.views.domain import settings_page
from messor.errors import UsageError
from messor.governance import domain_terms
from messor.registry import domains
from messor.registry.domains import Domain
from messor.registry.terms import CHOICES, COLUMNS, Terms


async def save(call: ConsoleRequest) -> Response:
    domain = await domains.get(call.context.database, call.part("name"))
    try:
        terms = _terms(call.form)
        async with call.context.database.transaction() as connection:
            domain = await domains.lock(connection, domain.domain)
            emptied = _emptied(call.form, domain)
            await domain_terms.change(connection, domain, actor=call.actor, reset=emptied, **terms)
    except UsageError as error:
        return await settings_page(call, domain, wrong=str(error), status=422)
    message = "Settings saved; they apply to visits that start from now on."
    return call.go(domain_path(domain.domain, "settings"), message)


def _emptied(form: Form, domain: Domain) -> list[str]:
    """Settings that were set on the domain and whose field is now empty."""
    return [
        name
        for name, column in COLUMNS.items()
        if name in form and not form.text(name).strip() and getattr(domain, column) is not None
    ]


def _terms(form: Form) -> Terms:
    """Settings from the form; a missing field leaves its setting unchanged."""
    terms: Terms = {
        "delay": form.decimal("delay", "Delay"),
        "max_concurrent_requests": form.whole("max_concurrent_requests", "Concurrent requests"),
        "max_crawl_depth": form.whole("max_crawl_depth", "Maximum depth"),
        "page_budget": form.whole("page_budget", "Page budget"),
        "every_hours": form.whole("every_hours", "Hours between crawls"),
        "priority": form.whole("priority", "Priority"),
        "crawl_hours": form.words("crawl_hours"),
        "time_zone": form.words("time_zone"),
        "megabytes_per_day": form.whole("megabytes_per_day", "Megabytes per day"),
        "verify_tls": form.is_on("verify_tls") if "verify_tls" in form else None,
    }
    for name in CHOICES:
        terms[name] = form.words(name)  # type: ignore[literal-required]
    return terms


SCREENS = (post("/domains/{name}/settings", Act.DOMAINS_CONFIGURE, save),)
