"""The built-in parsers, under the same protocol as third-party ones."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from messor.content.kinds import KINDS, find_records
from messor.content.kinds.build import PARSER, PARSER_VERSION
from messor.content.page_type import WRITTEN, page_type
from messor.content.products import amazon, generic
from messor.content.products.ranking import Ranking
from messor.content.records import Record
from messor.content.view import PageView
from messor.parsers.protocol import Parser

# Confidence that a page is an article from which on no product is looked for.
_SURELY = 0.8
_PUBLISHED = frozenset(
    ("Product", "ProductGroup", "IndividualProduct", "ProductModel", "Offer", "AggregateOffer")
)
_PRICES = frozenset(("product:price:amount", "og:price:amount"))

PRODUCT_KINDS = generic.KINDS


def learnt_version(number: int) -> str:
    """Return the version of the product parser with this ranking."""
    return f"{generic.VERSION}+{number}"


class AmazonParser:
    """Products in Amazon's shops."""

    name = amazon.PARSER
    version = amazon.VERSION
    kinds = PRODUCT_KINDS
    is_generic = False

    def accepts(self, page: PageView) -> bool:
        return amazon.is_amazon(page.url)

    def parse(self, page: PageView) -> list[Record]:
        return amazon.read_amazon(page.page)


class ProductParser:
    """Products on any page except a clear article that publishes none.

    With a learned ranking it is a separate version: "1+3" is version 1 with ranking 3.
    """

    name = generic.PARSER
    version = generic.VERSION
    kinds = PRODUCT_KINDS
    is_generic = True

    def __init__(self, ranking: Ranking | None = None) -> None:
        self._ranking = ranking
        if ranking is not None:
            self.version = learnt_version(ranking.version)

    def accepts(self, page: PageView) -> bool:
        kind = page_type(page)
        if kind.name not in WRITTEN or kind.confidence < _SURELY:
            return True
        return not _PUBLISHED.isdisjoint(page.types) or not _PRICES.isdisjoint(page.metas)

    def parse(self, page: PageView) -> list[Record]:
        return self.parse_only(page, self.kinds)

    def parse_only(self, page: PageView, kinds: AbstractSet[str]) -> list[Record]:
        return generic.read_products(
            page.page, ranking=self._ranking, version=self.version, kinds=kinds
        )


class StatementParser:
    """All other kinds, on any page."""

    name = PARSER
    version = PARSER_VERSION
    kinds = frozenset(kind.name for kind in KINDS.values() if kind.find)
    is_generic = True

    def accepts(self, page: PageView) -> bool:
        del page
        return True

    def parse(self, page: PageView) -> list[Record]:
        return find_records(page)

    def parse_only(self, page: PageView, kinds: AbstractSet[str]) -> list[Record]:
        return find_records(page, kinds)


AMAZON = AmazonParser()
PRODUCTS = ProductParser()
STATEMENTS = StatementParser()

BUILTIN: tuple[Parser, ...] = (AMAZON, PRODUCTS, STATEMENTS)
