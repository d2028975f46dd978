"""`messor prices` and the API's prices: approve with caps, revoke, one clear sentence for bad input."""

from __future__ import annotations

from tests.cli.conftest import Messor


def test_a_price_is_approved_and_revoked(messor: Messor) -> None:
    messor("domains", "submit", "news.example")
    approve = ("prices", "approve", "news.example", "--reason", "Contract 12")
    made = messor(*approve, "--page", "USD 0.01", "--month", "USD 20", "--json")
    assert made.json["currency"] == "USD"
    assert "MESSOR_PAYMENT_ADAPTER" in made.err
    refused = messor(*approve, "--page", "a cent", "--month", "USD 20")
    assert refused.code == 2
    assert "USD 0.01" in refused.err
    assert messor("prices", "revoke", "news.example").code == 0
    assert messor("prices", "revoke", "news.example").code == 5
    assert messor("prices", "list", "--json").json == []
    assert "Nothing was paid" in messor("prices", "payments").err
    assert messor("prices", "approve", "x.example", "--page", "USD 1", "--month", "USD 1",
                  "--reason", "r").code == 4  # fmt: skip
