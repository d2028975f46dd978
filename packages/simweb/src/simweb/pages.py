"""A page of a trade's site before it is rendered: path, content, and how it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from simweb.epochs import STEADY, Rates

Data: TypeAlias = Mapping[str, Any]  # one JSON-LD object


@dataclass(frozen=True, slots=True)
class Content:
    title: str
    description: str
    blocks: tuple[str, ...]  # markup, in order
    data: tuple[Data, ...] = ()
    heading: str = ""  # by default the title up to its first dot


@dataclass(frozen=True, slots=True)
class At:
    """When a page is requested, and its edition at that time."""

    epoch: int
    edition: int


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    name: str  # link text
    compose: Callable[[At], Content]
    rates: Rates = STEADY
    watched: tuple[Page, ...] = ()  # pages whose changes show on this one
    language: str = "en"
    robots_meta: str = "index, follow"
    listed: bool = True  # in the sitemap


@dataclass(frozen=True, slots=True)
class Charter:
    """What is fixed about a site before its pages are generated."""

    host: str
    domain: str
    kind: str
    name: str
    items: int
    language: str = "en"
    second_language: str | None = None
    currency: str = "EUR"
    secure: bool = False
    crawl_delay: int | None = None
    sitemap: str = "plain"  # plain, index, gzip or none
    layout: str = "page-wide.html"
    shares_address_of: str | None = None
    friends: tuple[str, ...] = ()  # other sites its pages link to, as base URLs
