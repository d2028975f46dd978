"""Where lost values stand now: proposed from several pages, never from one alone."""

from __future__ import annotations

from messor.content.view import PageView
from messor.parsers.repairs import LostPage, propose


def rebuilt(number: int, *, marked: bool = True) -> PageView:
    body = ("<nav><span class=price-now>1,00 €</span></nav>" if not marked else "") + (
        f"<h1>Kettle {number}</h1><div id=buy-box><span class='amount big7'>{number},50 €</span></div>"
        f"<p class=meta>Article <b itemprop=mpn>AB-{number}00</b></p>"
        f"<div class='amount'>99,00 €</div>"
    )
    return PageView.of(f"<html><body>{body}</body></html>", f"https://shop.example/{number}")


def lost(number: int) -> LostPage:
    before = {"product_name": f"Kettle {number}", "price": number + 0.5, "sku": f"AB-{number}00"}
    return LostPage(rebuilt(number), before)


def test_a_place_that_holds_the_old_values_on_several_pages_is_proposed() -> None:
    found = {one.field: one for one in propose([lost(n) for n in range(1, 6)])}
    assert found["product_name"].selector == "h1"
    assert found["price"].selector in {"#buy-box", "span.amount"}
    assert found["sku"].selector == "b[itemprop='mpn']"
    assert {(one.found, one.pages) for one in found.values()} == {(5, 5)}
    assert found["sku"].line == """("sku", "b[itemprop='mpn']", "sku"),"""


def test_one_page_proves_nothing_and_strangers_values_propose_nothing() -> None:
    assert propose([lost(1)]) == []
    others = [LostPage(rebuilt(n), {"product_name": "Teapot", "price": 7.25}) for n in range(1, 6)]
    assert propose(others) == []
    assert propose([]) == []


def test_only_the_first_element_of_a_selector_counts() -> None:
    found = {one.field: one for one in propose([lost(n) for n in range(1, 4)])}
    assert found["price"].selector != "div.amount"
