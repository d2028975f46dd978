"""The schema of a vertical's file and its rules; `verticals.files` reads files."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from messor.content.kinds import KINDS
from messor.rights.uses import ApprovedUse

RECORD_KINDS = tuple(sorted(kind.name for kind in KINDS.values() if not kind.is_part))
DOMAIN_CLASSES = (
    "business",
    "directory",
    "marketplace",
    "social",
    "government",
    "education",
    "nonprofit",
    "news",
    "reference",
    "aggregator",
    "platform",
    "forum",
    "parked",
    "unknown",
)
JUDGES = (
    "keyword",
    "domain_credibility",
    "geography",
    "organisation_type",
    "freshness",
    "snippet_quality",
)
SCORE_PARTS = ("visibility", "content_change", "record_yield", "quality", "friction", "cost")

Text = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"
    ),
]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Frequency = Literal["hourly", "daily", "weekly", "monthly", "quarterly", "yearly"]
_SLOT = re.compile(r"\{(\w*)\}")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Service(_Part):
    name: Text
    synonyms: tuple[Text, ...] = ()
    intent: Literal["commercial", "informational", "navigational", "transactional"] = "commercial"


class GeoSet(_Part):
    modifiers: Annotated[tuple[Text, ...], Field(min_length=1, max_length=10_000)]
    priority: int = 0


class Template(_Part):
    """A pattern such as "best {service} in {geo}"."""

    template: Text
    geo_set: str | None = None
    language: Annotated[str, StringConstraints(pattern="^[a-z]{2,3}$")] = "en"

    @model_validator(mode="after")
    def names_what_it_fills(self) -> Self:
        slots = set(_SLOT.findall(self.template))
        if "service" not in slots or slots - {"service", "geo"}:
            raise ValueError("a template needs {service}, may use {geo}, and has no other slot")
        if ("geo" in slots) != (self.geo_set is not None):
            raise ValueError("a template names a geo_set if and only if it uses {geo}")
        return self


class Profile(_Part):
    """Where and on which device a search is made."""

    gl: Annotated[str, StringConstraints(pattern="^[a-z]{2}$")] = "sg"
    hl: Annotated[str, StringConstraints(pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    device: Literal["desktop", "mobile", "tablet"] = "desktop"
    location: Text = "Singapore"
    uule: Text | None = None


class Relevance(_Part):
    """Words of results on the vertical's topic, and words against it.

    `service_terms` are services in other languages: judged as services are, but not searched for.
    """

    topic: Text
    service_terms: tuple[Text, ...] = ()
    terms: Annotated[tuple[Text, ...], Field(min_length=1)]
    against: tuple[Text, ...] = ()
    organisation_terms: tuple[Text, ...] = ()
    credible_suffixes: tuple[Text, ...] = ()
    doubtful_domains: tuple[Text, ...] = ()


class Scoring(_Part):
    """Weights of score components, of ranks in descending order, and of keyword tiers."""

    weights: dict[str, Weight]
    rank_weights: Annotated[tuple[Weight, ...], Field(min_length=1, max_length=100)]
    tier_weights: dict[Literal["A", "B", "C"], Weight]

    @model_validator(mode="after")
    def is_complete(self) -> Self:
        if set(self.weights) != set(SCORE_PARTS):
            raise ValueError(f"weights must name exactly {', '.join(SCORE_PARTS)}")
        if sum(self.weights.values()) <= 0:
            raise ValueError("at least one weight must exceed 0")
        if any(a < b for a, b in zip(self.rank_weights, self.rank_weights[1:], strict=False)):
            raise ValueError("a rank must not weigh more than the one above it")
        if set(self.tier_weights) != {"A", "B", "C"}:
            raise ValueError("tier_weights must name exactly A, B, C")
        return self


class Vertical(_Part):
    """A use of Messor."""

    name: Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,62}$")]
    title: Text
    version: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    on_block: Literal["respect", "failover"] = "respect"
    # What one candidate stands for: a domain, or each program that its pages name.
    unit: Literal["domain", "program"] = "domain"
    record_kinds: Annotated[tuple[Literal[RECORD_KINDS], ...], Field(min_length=1)]  # type: ignore[valid-type] # a literal of a tuple
    services: Annotated[tuple[Service, ...], Field(min_length=1)]
    geo_sets: dict[Name, GeoSet] = Field(default_factory=dict)
    templates: Annotated[tuple[Template, ...], Field(min_length=1)]
    profiles: Annotated[dict[Name, Profile], Field(min_length=1)]
    judges: dict[Literal[JUDGES], Weight]  # type: ignore[valid-type] # a literal of a tuple
    relevance: Relevance
    scoring: Scoring
    # What its domains are approved for, unless a reviewer names something else.
    uses: tuple[ApprovedUse, ...] = ()
    # Domain classes that count for visibility: those the vertical is about, and unknown.
    counted_classes: Annotated[tuple[Literal[DOMAIN_CLASSES], ...], Field(min_length=1)] = (  # type: ignore[valid-type] # a literal of a tuple
        "business",
        "nonprofit",
        "education",
        "unknown",
    )
    cadence: dict[Literal["A", "B", "C", "D"], Frequency]

    @property
    def service_words(self) -> tuple[str, ...]:
        """Every word for a service, in every language of the vertical."""
        own = (word for service in self.services for word in (service.name, *service.synonyms))
        return (*own, *self.relevance.service_terms)

    @model_validator(mode="after")
    def holds_together(self) -> Self:
        names = [service.name.casefold() for service in self.services]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"service names must be unique; {twice[0]!r} occurs twice")
        for template in self.templates:
            if template.geo_set is not None and template.geo_set not in self.geo_sets:
                raise ValueError(
                    f"template {template.template!r} uses the geo set {template.geo_set!r}, "
                    "which is not defined"
                )
        if not any(self.judges.values()):
            raise ValueError("at least one judge weight must exceed 0")
        if set(self.cadence) != {"A", "B", "C", "D"}:
            raise ValueError("cadence must name exactly the track levels A, B, C, D")
        return self
