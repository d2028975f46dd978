"""Prices that a response names: Pay per Crawl's fields, x402 (version 2), and RSL's demand for a licence.

Pure functions. What cannot be understood keeps its text and has no amount: nothing is ever paid for it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

import msgspec

PAYMENT_REQUIRED = 402
LICENCE_STATUSES = frozenset({401, 402})
MAX_TEXT = 500
MAX_HEADER = 16_384
MAX_AMOUNT = Decimal(1_000_000)
_PRICE = re.compile(r"([A-Z]{3})\s+(\d{1,9}(?:\.\d{1,9})?)")
_LICENCE = re.compile(r"(?:^|,)\s*License(?:\s+(.*))?$", re.IGNORECASE)
_AMOUNT = re.compile(r"\d{1,40}")


class Scheme(StrEnum):
    """How a price is named, and would be paid."""

    PAY_PER_CRAWL = "pay-per-crawl"  # crawler-price
    X402 = "x402"
    RSL = "rsl"  # a licence, whose price its server names


@dataclass(frozen=True, slots=True)
class Quote:
    """A price for one page, with the text that says it."""

    scheme: Scheme
    amount: Decimal | None  # None: not said, or not understood
    currency: str | None  # of three letters, or the asset of a network
    text: str  # as received

    @property
    def price(self) -> str:
        if self.amount is None:
            return "an amount that is not said"
        return f"{self.currency} {self.amount.normalize():f}"


def quote_of(status: int, headers: Mapping[str, str]) -> Quote | None:
    """The price that a response names; None where it names none."""
    if status == PAYMENT_REQUIRED:
        if (price := headers.get("crawler-price")) is not None:
            return _pay_per_crawl(price)
        if (demand := headers.get("PAYMENT-REQUIRED")) is not None:
            return _x402(demand)
    if status in LICENCE_STATUSES:
        found = _LICENCE.search(headers.get("WWW-Authenticate", "")[:MAX_HEADER])
        if found is not None:
            return Quote(Scheme.RSL, None, None, f"License {found[1] or ''}".strip()[:MAX_TEXT])
    return None


def amount_of(text: str) -> tuple[str, Decimal] | None:
    """Currency and amount, as `USD 0.01`."""
    found = _PRICE.fullmatch(text.strip())
    if found is None or Decimal(found[2]) > MAX_AMOUNT:
        return None
    return found[1], Decimal(found[2])


def _pay_per_crawl(text: str) -> Quote:
    found = amount_of(text)
    currency, amount = found or (None, None)
    return Quote(Scheme.PAY_PER_CRAWL, amount, currency, f"crawler-price: {text}"[:MAX_TEXT])


def _x402(text: str) -> Quote:
    """The first offer whose asset names itself and its decimals; the rest is evidence."""
    quoted = f"PAYMENT-REQUIRED: {text}"[:MAX_TEXT]
    try:
        demand = msgspec.json.decode(base64.b64decode(text[:MAX_HEADER], validate=True))
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return Quote(Scheme.X402, None, None, quoted)
    offers = demand.get("accepts") if isinstance(demand, dict) else None
    for offer in offers if isinstance(offers, list) else ():
        if isinstance(offer, dict) and (found := _offered(offer)) is not None:
            return Quote(Scheme.X402, found[1], found[0], quoted)
    return Quote(Scheme.X402, None, None, quoted)


# USD Coin has six decimals on every network; other tokens do not say theirs in the demand.
_STABLE = {"USDC": (6, "USD"), "USD COIN": (6, "USD")}


def _offered(offer: Mapping[str, Any]) -> tuple[str, Decimal] | None:
    extra, amount = offer.get("extra"), offer.get("amount")
    name = extra.get("name") if isinstance(extra, dict) else None
    known = _STABLE.get(str(name).upper())
    if known is None or not isinstance(amount, str) or not _AMOUNT.fullmatch(amount):
        return None
    try:
        value = Decimal(amount).scaleb(-known[0])
    except InvalidOperation:
        return None
    return (known[1], value) if value <= MAX_AMOUNT else None
