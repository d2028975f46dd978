"""A learnt order of offered values: it starts as usual, and moves as far as examples show."""

from __future__ import annotations

import random

from messor.content.page import ParsedPage
from messor.content.products.choose import described, offered, preferred
from messor.content.products.generic import VERSION, gather, read_products
from messor.content.products.ranking import (
    SURENESS,
    Ranking,
    RankingExample,
    features_of,
    fit,
    learn,
)


def example(index: int, *, meta_is_right: bool, noise: random.Random) -> RankingExample:
    """A page whose price stands in JSON-LD and, surer or less sure, in a meta element."""
    sure, unsure = 0.6 + noise.random() * 0.3, 0.3 + noise.random() * 0.3
    offers = (features_of(sure, ["json_ld"], 0, 2), features_of(unsure, ["meta"], 1, 2))
    return RankingExample("price", f"shop{index % 9}.example", offers, 0, int(meta_is_right))


def test_what_reviewers_say_of_a_source_is_learnt_and_measured_on_other_domains() -> None:
    noise = random.Random(5)
    (learnt,) = learn([example(n, meta_is_right=n % 10 != 0, noise=noise) for n in range(90)])
    assert (learnt.name, learnt.examples, learnt.domains) == ("price", 90, 9)
    assert learnt.usual < 0.2
    assert learnt.learnt > 0.8
    assert learnt.is_better
    assert learnt.weights["from:meta"] > learnt.weights["from:json_ld"]


def test_where_the_usual_order_is_right_nothing_is_gained() -> None:
    noise = random.Random(6)
    (learnt,) = learn([example(n, meta_is_right=False, noise=noise) for n in range(60)])
    assert learnt.usual == 1.0
    assert not learnt.is_better


def test_little_teaches_nothing() -> None:
    noise = random.Random(7)
    few = [example(n, meta_is_right=True, noise=noise) for n in range(19)]
    assert learn(few) == []
    alone = [
        RankingExample("price", f"{n}.example", e.offered[:1], 0, 0) for n, e in enumerate(few * 3)
    ]
    assert learn(alone) == []
    one_domain = [RankingExample("price", "one.example", e.offered, 0, 1) for e in few * 3]
    assert learn(one_domain) == []


def test_without_examples_the_order_is_the_usual_one() -> None:
    noise = random.Random(8)
    usual = {SURENESS: 1.0}
    assert fit([]) == usual
    ranking = Ranking(1, {"price": usual})
    for n in range(50):
        made = example(n, meta_is_right=False, noise=noise)
        order = ranking.order("price", made.offered)
        assert order is not None
        assert order.index(max(order)) == made.usual
    assert ranking.order("brand", made.offered) is None


PAGE = """<html><title>Kettle</title>
<meta property="product:price:amount" content="17.50">
<meta property="product:price:currency" content="EUR">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
 "name": "Kettle", "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR"}}</script>
<h1>Kettle</h1><p>It boils water.</p></html>"""


def test_a_ranking_chooses_among_what_the_page_states_and_names_itself() -> None:
    page = ParsedPage.read(PAGE, "https://shop.example/kettle")
    gathered = gather(page)
    assert gathered is not None
    offers = offered(gathered.pool, "price")
    assert [float(offer.value) for offer in offers] == [19.9, 17.5]
    assert preferred("price", offers, None) == 0
    assert [each["first"] for each in described(offers)] == [1.0, 0.0]
    learnt = Ranking(3, {"price": {SURENESS: 0.1, "from:meta": 5.0}})
    (usual, *_) = read_products(page)
    (ranked, *_) = read_products(page, ranking=learnt, version=f"{VERSION}+3")
    assert float(usual.fields["price"].value) == 19.9
    assert float(ranked.fields["price"].value) == 17.5
    assert (usual.parser_version, ranked.parser_version) == ("1", "1+3")
