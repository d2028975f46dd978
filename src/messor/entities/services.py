"""Services: one name on one site, however many of its pages state it."""

from __future__ import annotations

from collections.abc import Iterable

from messor.entities.match import EntityKind, Features, Match, Reading, SourceRecord, shared
from messor.entities.programs import title_words


def read_service(source: SourceRecord) -> Reading | None:
    title = title_words(source.text("name"))
    if not title:
        return None
    return Reading(title, {"title": {title}, "domain": {source.domain}})


def service_keys(features: Features) -> Iterable[str]:
    return (f"{domain}:{title}" for domain in features["domain"] for title in features["title"])


def compare_services(one: Features, other: Features) -> Match | None:
    """A service is its site's: two providers with one name for it offer two services."""
    if shared(one, other, "domain") and shared(one, other, "title"):
        return Match(0.97, "name on site", "the same name on one site")
    return None


SERVICE = EntityKind(
    name="service",
    label="Service",
    plural="Services",
    sources=frozenset(("service",)),
    read=read_service,
    keys=service_keys,
    compare=compare_services,
    title="name",
    fields=("name", "category", "provider", "area", "price", "currency", "description", "url"),
    newest=frozenset(("price", "currency")),
)
