"""When losses of a parser are alarming: five records at least, and a fifth of them."""

from __future__ import annotations

import pytest

from messor.parsers.health import Health


@pytest.mark.parametrize(
    "lost, held, alarming",
    [(4, 0, False), (5, 0, True), (5, 20, True), (5, 21, False), (19, 80, False), (20, 80, True)],
)
def test_a_loss_is_alarming_from_five_and_a_fifth(lost: int, held: int, *, alarming: bool) -> None:
    assert Health("a.test", "products", "product", held, lost, 0.9).is_alarming is alarming
