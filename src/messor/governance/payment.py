"""Paying for a page: the interface of payment adapters, and a stand-in that moves no money.

An adapter turns a quote into the fields that the next request offers, and reads the receipt of its
response. Pay per Crawl is charged to the account that its operator keeps for our signing key; x402
and RSL need a wallet or a licence server, which an adapter brings.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol
from uuid import UUID

import msgspec

from messor.fetch.identity.signer import Fields
from messor.fetch.outcome import Fetched, Outcome
from messor.governance import prices
from messor.governance.prices import ReservedPayment
from messor.settings import Settings
from messor.store.database import Database
from messor.web.quotes import MAX_TEXT, Quote, Scheme, amount_of

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class PaymentReceipt:
    """What a response says was charged."""

    charged: Decimal
    text: str


class PaymentAdapter(Protocol):
    """Pays prices of the schemes it knows; amounts were approved and reserved before."""

    name: str

    def offer(self, quote: Quote) -> Fields:
        """The fields that offer this price; none where it cannot be paid."""
        ...

    def receipt(
        self, quote: Quote, status: int | None, headers: Mapping[str, str]
    ) -> PaymentReceipt:
        """What the response to the offer says was charged."""
        ...


class StandIn:
    """Speaks the wire forms and moves no money: what it offers says that it is a stand-in."""

    name = "stand-in"

    def offer(self, quote: Quote) -> Fields:
        if quote.scheme is Scheme.PAY_PER_CRAWL:
            return (("crawler-max-price", quote.price),)
        if quote.scheme is Scheme.X402:
            payload = {"x402Version": 2, "payload": {"note": "stand-in: no money was moved"}}
            encoded = base64.b64encode(msgspec.json.encode(payload)).decode()
            return (("PAYMENT-SIGNATURE", encoded),)
        return ()

    def receipt(
        self, quote: Quote, status: int | None, headers: Mapping[str, str]
    ) -> PaymentReceipt:
        return receipt_of(quote, status, headers)


def receipt_of(quote: Quote, status: int | None, headers: Mapping[str, str]) -> PaymentReceipt:
    """The receipt in the fields of a response; without one nothing counts as charged."""
    charged = headers.get("crawler-charged")
    if charged is not None:
        found = amount_of(charged)
        amount = found[1] if found is not None else quote.amount or NOTHING
        return PaymentReceipt(amount, f"crawler-charged: {charged}"[:MAX_TEXT])
    paid = headers.get("PAYMENT-RESPONSE")
    if paid is not None and _is_success(paid):
        return PaymentReceipt(quote.amount or NOTHING, f"PAYMENT-RESPONSE: {paid}"[:MAX_TEXT])
    said = headers.get("crawler-error") or f"the site answered {status} without a receipt"
    return PaymentReceipt(NOTHING, said[:MAX_TEXT])


def _is_success(text: str) -> bool:
    try:
        found = msgspec.json.decode(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return False
    return isinstance(found, dict) and found.get("success") is True


def adapter_of(settings: Settings) -> PaymentAdapter | None:
    """The configured adapter; None: nothing is ever paid."""
    return StandIn() if settings.payment_adapter == "stand-in" else None


class Payments:
    """Offers approved prices for one worker."""

    def __init__(self, database: Database, adapter: PaymentAdapter | None) -> None:
        self._database = database
        self._adapter = adapter

    async def offer(
        self, domain_id: UUID, page_id: int, fetched: Fetched
    ) -> tuple[ReservedPayment, Fields] | None:
        """A reserved payment and the fields that offer it; None where nothing is to be paid."""
        quote, adapter = fetched.result.quote, self._adapter
        if fetched.outcome is not Outcome.PRICED or quote is None or adapter is None:
            return None
        fields = adapter.offer(quote)
        if not fields:
            return None
        reserved = await prices.reserve(self._database, domain_id, page_id, quote, adapter.name)
        return None if reserved is None else (reserved, fields)

    async def settle(self, reserved: ReservedPayment, fetched: Fetched | None) -> None:
        """Note what was charged. A request that may have been sent without a response counts as paid."""
        assert self._adapter is not None
        if fetched is not None and fetched.sent_at and fetched.status is None:
            return
        status = fetched.status if fetched is not None else None
        headers = fetched.headers if fetched is not None else {}
        receipt = self._adapter.receipt(reserved.quote, status, headers)
        await prices.settle(self._database, reserved, receipt.charged, receipt.text)
