"""Prices in responses: Pay per Crawl, x402 and RSL; nonsense has no amount."""

from __future__ import annotations

import base64
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from messor.web.quotes import Scheme, quote_of


def x402(*accepts: object) -> str:
    return base64.b64encode(json.dumps({"x402Version": 2, "accepts": accepts}).encode()).decode()


USDC = {"scheme": "exact", "network": "eip155:8453", "amount": "10000", "payTo": "0x1",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "extra": {"name": "USD Coin"}}  # fmt: skip


@pytest.mark.parametrize(
    "status, headers, scheme, amount, currency",
    [
        (402, {"crawler-price": "USD 0.01"}, Scheme.PAY_PER_CRAWL, "0.01", "USD"),
        (402, {"Crawler-Price": "EUR 2"}, Scheme.PAY_PER_CRAWL, "2", "EUR"),
        (402, {"crawler-price": "0.01"}, Scheme.PAY_PER_CRAWL, None, None),
        (402, {"crawler-price": "USD -1"}, Scheme.PAY_PER_CRAWL, None, None),
        (402, {"crawler-price": "USD 99999999"}, Scheme.PAY_PER_CRAWL, None, None),
        (402, {"PAYMENT-REQUIRED": x402(USDC)}, Scheme.X402, "0.01", "USD"),
        (402, {"PAYMENT-REQUIRED": x402({"amount": "5"}, USDC)}, Scheme.X402, "0.01", "USD"),
        (402, {"PAYMENT-REQUIRED": x402({**USDC, "amount": "-1"})}, Scheme.X402, None, None),
        (402, {"PAYMENT-REQUIRED": "%%%"}, Scheme.X402, None, None),
        (402, {"PAYMENT-REQUIRED": "W10="}, Scheme.X402, None, None),
        (401, {"WWW-Authenticate": 'License error="x"'}, Scheme.RSL, None, None),
        (402, {"WWW-Authenticate": "Basic realm=a, License"}, Scheme.RSL, None, None),
    ],
)
def test_a_price_is_read_with_its_text(
    status: int, headers: dict[str, str], scheme: Scheme, amount: str | None, currency: str | None
) -> None:
    quote = quote_of(status, CIMultiDict(headers))
    assert quote is not None
    assert (quote.scheme, quote.currency) == (scheme, currency)
    assert quote.amount == (None if amount is None else Decimal(amount))
    assert quote.text


@pytest.mark.parametrize(
    "status, headers",
    [
        (200, {"crawler-price": "USD 0.01"}),
        (402, {}),
        (401, {"WWW-Authenticate": "Basic realm=licensed"}),
        (403, {"WWW-Authenticate": "License"}),
    ],
)
def test_where_no_price_is_named_there_is_none(status: int, headers: dict[str, str]) -> None:
    assert quote_of(status, CIMultiDict(headers)) is None


@given(st.sampled_from(["crawler-price", "PAYMENT-REQUIRED", "WWW-Authenticate"]), st.text())
def test_nonsense_is_never_a_price(name: str, text: str) -> None:
    quote = quote_of(402, CIMultiDict({name: text}))
    assert quote is None or quote.amount is None or quote.currency is not None
