"""Made-up pages about funding, and others that use the same words for something else."""

from __future__ import annotations

import random

from messor.insight.relevance import LabelledPage, Topic, lexical_score

TOPIC = Topic.of_terms(
    "funding",
    "grants and programs that organisations can apply for",
    ["grant", "grants", "funding", "apply", "deadline"],
    ["lyrics", "casino"],
)
_FUNDING = [
    "bursary",
    "stipend",
    "applicants",
    "eligibility",
    "award",
    "scheme",
    "charity",
    "foundation",
    "trustees",
    "proposals",
    "guidelines",
    "call",
    "submissions",
    "nonprofit",
    "support",
    "projects",
    "amount",
    "matched",
]
_CINEMA = [
    "actor",
    "film",
    "comedy",
    "premiere",
    "director",
    "romance",
    "cinema",
    "role",
    "wedding",
    "box",
    "office",
    "scene",
    "trailer",
    "cast",
    "studio",
    "review",
    "screen",
    "audience",
]
_COMMON = [
    "page",
    "read",
    "news",
    "today",
    "year",
    "people",
    "city",
    "team",
    "work",
    "help",
    "contact",
    "home",
    "week",
    "more",
]


def example(chance: random.Random, domain: str, *, relevant: bool) -> LabelledPage:
    """One page. Rules alone find it hard: every page has some of the topic's words."""
    own = _FUNDING if relevant else _CINEMA
    words = chance.choices(own, k=chance.randint(6, 14)) + chance.choices(_COMMON, k=40)
    words += chance.choices(
        ["grant", "grants", "apply", "deadline", "funding"], k=chance.randint(0, 6)
    )
    chance.shuffle(words)
    text = " ".join(words)
    title = chance.choice(own) + " " + chance.choice(_COMMON)
    return LabelledPage(domain, title, text, lexical_score(TOPIC, title, text).value, relevant)


def examples(seed: int, count: int, *, domains: str = "site") -> list[LabelledPage]:
    chance = random.Random(seed)
    return [
        example(chance, f"{domains}{chance.randrange(12)}.test", relevant=chance.random() < 0.4)
        for _ in range(count)
    ]
