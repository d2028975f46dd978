"""Features that indicate a domain's class: its name, pages, records and search results.

A feature is a stable name with a sentence; `SPEAKS` lists the classes it indicates. Facts come from
the database as counts, so that no pages are read here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from messor.core.words import load
from messor.insight.highlights import unaccented
from messor.scout.judges.titles import Title

CLASSES = (
    "business", "directory", "marketplace", "social", "government", "education", "nonprofit", "news",
    "reference", "aggregator", "platform", "forum", "parked", "unknown",
)  # fmt: skip

_WORDS = load("messor.insight", "site_classes")
_SAYS = {name: re.compile("|".join(patterns)) for name, patterns in _WORDS["says"].items()}
_OWN = re.compile(rf"\b(?:{'|'.join(_WORDS['own'])})\b")
_KIND_OF = {kind: name for name, kinds in _WORDS["data_kinds"].items() for kind in kinds}

# The classes that a feature indicates, with weights; a negative weight counts against.
SPEAKS: Mapping[str, Mapping[str, float]] = {
    "ending:government": {"government": 6.0},
    "ending:education": {"education": 6.0},
    "ending:org": {"nonprofit": 0.6},
    "serp:wide": {"directory": 0.3, "aggregator": 0.2},
    "serp:verticals": {"social": 0.8, "reference": 0.6, "marketplace": 0.8, "news": 0.6, "directory": 0.5, "business": -1.5},
    "serp:narrow": {"business": 0.7, "nonprofit": 0.3},
    "serp:local": {"business": 1.8, "nonprofit": 1.2, "government": 0.3},
    "pages:articles": {"news": 1.2, "social": 0.4, "forum": 0.4, "reference": 0.4},
    "pages:listings": {"directory": 0.6, "aggregator": 0.3, "marketplace": 0.3},
    "pages:products": {"business": 1.8, "marketplace": 0.5},
    "pages:services": {"business": 1.6},
    "pages:own": {"business": 0.7, "nonprofit": 0.4, "government": 0.3, "education": 0.3},
    "records:many_organisations": {"directory": 2.2, "aggregator": 0.8, "business": -1.5},
    "records:one_organisation": {"business": 0.6, "nonprofit": 0.4, "government": 0.3, "education": 0.3},
    "records:many_brands": {"marketplace": 1.6, "aggregator": 0.8},
    "records:services": {"business": 0.6, "nonprofit": 0.4},
    "records:programs": {"nonprofit": 1.2, "government": 0.9, "education": 0.5},
    "text:own": {"business": 0.5, "nonprofit": 0.3},
    "data:LocalBusiness": {"business": 2.4},
    "data:NewsMediaOrganization": {"news": 3.0},
    "data:GovernmentOrganization": {"government": 3.5},
    "data:NGO": {"nonprofit": 2.5, "government": 0.3},
    "data:EducationalOrganization": {"education": 3.0},
    "data:DiscussionForumPosting": {"forum": 2.5},
    "data:ItemList": {"directory": 0.8, "aggregator": 0.6},
    "size:one_thin_page": {"parked": 1.2},
}  # fmt: skip
# By number of distinct phrases.
_SAYS_WEIGHT = (1.0, 1.9, 2.7, 3.4, 4.0, 4.5, 5.0)
_SHARES = {"business": 0.7, "parked": 2.0}  # typical of any business, and of nothing else
CALLED_WEIGHT = 2.0
LISTED = 8.0
_SHORTEST_END = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Feature:
    """A property of a domain, as a name and a sentence."""

    name: str
    sentence: str

    @property
    def speaks(self) -> Mapping[str, float]:
        family, _, rest = self.name.partition(":")
        if family == "listed":
            return {rest: LISTED}
        if family == "called":
            return {rest: CALLED_WEIGHT}
        if family == "says":
            name = rest.rstrip("+")
            return {name: _SHARES.get(name, 1.0) * _SAYS_WEIGHT[rest.count("+")]}
        return SPEAKS.get(self.name, {})


@cache
def known() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The class by domain, and by suffix, from the shipped list."""
    text = (files("messor.insight") / "known_domains.toml").read_text("utf-8")
    given = tomllib.loads(text)
    return tuple(
        {name: group for group, names in given[part].items() for name in names}
        for part in ("domains", "endings")
    )  # type: ignore[return-value] # two of them


def features_of(facts: Mapping[str, Any]) -> list[Feature]:
    """All features of a domain, from its facts."""
    domain = facts["domain"]
    found = [*_of_name(domain), *_of_serps(facts), *_of_pages(facts), *_of_records(facts)]
    found += _of_text(facts["text"])
    found += _of_title(domain, facts["text"])
    stated = {kind: _KIND_OF.get(kind, kind) for kind in sorted(facts["data_types"])}
    by_kind = {name: kind for kind, name in stated.items() if f"data:{name}" in SPEAKS}
    found += [
        Feature(f"data:{name}", f"its structured data states {kind}")
        for name, kind in by_kind.items()
    ]
    return found


def _of_name(domain: str) -> list[Feature]:
    domains, endings = known()
    found = []
    if domain in domains:
        found.append(Feature(f"listed:{domains[domain]}", "it is on the list of known domains"))
    held = [end for end in endings if domain.endswith(end) or domain == end[1:]]
    if held:
        end = max(held, key=len)
        found.append(Feature(f"ending:{endings[end]}", f"its name ends in {end}"))
    elif domain.endswith(".org"):
        found.append(Feature("ending:org", "its name ends in .org"))
    return found


def _of_title(domain: str, text: str) -> list[Feature]:
    """The site's name, from its homepage title and its domain."""
    title = Title.of(text.partition("\n")[0], domain)
    name = f" {' '.join(_WORD.findall(unaccented(title.organisation).lower()))} "
    label = domain.partition(".")[0]
    words, whole = f" {label.replace('-', ' ')} ", label.replace("-", "")
    found = []
    for group, called in _WORDS["called"].items():
        names = [one for one in called if f" {one} " in name or f" {one} " in words]
        names += [
            one
            for one in called
            if len(one) >= _SHORTEST_END and (whole.startswith(one) or whole.endswith(one))
        ]
        if names:
            found.append(Feature(f"called:{group}", f'it is called "{names[0]}"'))
    return found


def _of_serps(facts: Mapping[str, Any]) -> list[Feature]:
    found = []
    services, keywords = facts["serp_services"], facts["serp_keywords"]
    if services >= 4:
        message = f"results for {keywords} keywords on {services} services name it"
        found.append(Feature("serp:wide", message))
    elif keywords and services <= 2:
        found.append(Feature("serp:narrow", f"results for {services} services name it"))
    if facts["serp_verticals"] >= 2:
        message = f"results of {facts['serp_verticals']} verticals name it"
        found.append(Feature("serp:verticals", message))
    if facts["serp_local"]:
        found.append(Feature("serp:local", "it is a local result"))
    return found


def _of_pages(facts: Mapping[str, Any]) -> list[Feature]:
    total, types = facts["pages"], facts["page_types"]
    found = []
    for name, kinds, least in (
        ("articles", ("article", "forum", "documentation"), 0.5),
        ("listings", ("listing",), 0.3),
        ("products", ("product",), 0.3),
        ("services", ("service", "pricing", "menu"), 0.15),
    ):
        share = sum(types.get(kind, 0) for kind in kinds) / total if total >= 3 else 0.0
        if share >= least:
            message = f"{share:.0%} of its {total} pages are {'/'.join(kinds)} pages"
            found.append(Feature(f"pages:{name}", message))
    if types.get("contact") and types.get("about"):
        found.append(Feature("pages:own", "it has pages about itself and for contact"))
    if total == 1 and len(facts["text"]) < 600:
        found.append(Feature("size:one_thin_page", "it has one page with little text"))
    return found


def _of_records(facts: Mapping[str, Any]) -> list[Feature]:
    found = []
    organisations, kinds = facts["organisations"], facts["record_kinds"]
    if organisations >= 5:
        message = f"its pages state {organisations} different organisations"
        found.append(Feature("records:many_organisations", message))
    elif organisations:
        found.append(Feature("records:one_organisation", "its pages state who it is"))
    if facts["brands"] >= 20:
        message = f"it sells products of {facts['brands']} brands"
        found.append(Feature("records:many_brands", message))
    if kinds.get("service") or kinds.get("price_item"):
        found.append(Feature("records:services", "its pages state services or prices"))
    if kinds.get("funding_program"):
        found.append(Feature("records:programs", "its pages state funding programs"))
    return found


def _of_text(text: str) -> list[Feature]:
    folded = unaccented(text).lower()
    found = []
    if own := _OWN.search(folded):
        found.append(Feature("text:own", f'its homepage says "{own[0]}"'))
    for name, pattern in _SAYS.items():
        phrases = list(dict.fromkeys(match[0].strip() for match in pattern.finditer(folded)))
        if phrases:
            many = "+" * (min(len(phrases), len(_SAYS_WEIGHT)) - 1)
            quotes = ", ".join(f'"{one[:60]}"' for one in phrases[:3])
            found.append(Feature(f"says:{name}{many}", f"its homepage says {quotes}"))
    return found
