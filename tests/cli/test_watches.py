"""`messor watches` and `messor changes` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from messor.cli import changes as command
from messor.rights.release import Purpose
from tests.cli.conftest import Messor


def test_a_watch_by_hand(messor: Messor) -> None:
    made = messor(
        "watches", "add", "Kettles", "products", "--when", "falls", "--field", "price",
        "--percent", "10", "--filter", "domain=shop.example", "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    watch = made.json["watch"]
    assert watch["filters"] == {"domain": "shop.example"}
    assert made.json["token"]
    assert messor("watches", "preview", watch["id"], "--json").json == []
    assert messor("watches", "on", watch["id"]).code == 0
    listed = messor("watches", "list", "--active", "--json").json
    assert [one["name"] for one in listed] == ["Kettles"]
    assert messor("watches", "alerts", watch["id"], "--json").json == []
    assert messor("watches", "off", watch["id"], "--json").json["is_active"] is False
    assert messor("watches", "remove", watch["id"]).code == 0
    assert messor("watches", "on", watch["id"]).code == 4


def test_a_faulty_watch_says_what_is_missing(messor: Messor) -> None:
    said = messor("watches", "add", "x", "products", "--when", "falls", "--field", "price")
    assert (said.code, "percent" in said.err) == (2, True)
    said = messor("watches", "add", "x", "products", "--when", "new", "--filter", "domain")
    assert (said.code, "is not a filter" in said.err) == (2, True)


def test_changes_are_printed(messor: Messor) -> None:
    assert messor("domains", "submit", "foodbank.org").code == 0
    said = messor("changes", "--kinds", "domain", "--json")
    first = json.loads(said.out.splitlines()[0])
    assert (first["kind"], first["state"], first["domain"]) == ("domain", "new", "foodbank.org")
    assert "domain.submitted new" in messor("changes").out
    assert messor("changes", "--cursor", "x").code == 2


@pytest.mark.parametrize("more", [(), ("--follow",)])
def test_changes_that_may_not_leave_are_not_printed(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    asked = []

    async def withheld(
        _: Any, purpose: Purpose, items: list[Any], of: Callable[..., Any], *_uses: Any
    ) -> Any:
        asked.append((purpose, [one.domain for one in items], [of(one) for one in items]))
        return []

    async def enough(_: float) -> None:
        raise KeyboardInterrupt

    assert messor("domains", "submit", "foodbank.org").code == 0
    monkeypatch.setattr(command, "release", withheld)
    monkeypatch.setattr("messor.cli.changes.asyncio.sleep", enough)
    assert messor("changes", "--kinds", "domain", "--json", *more).out == ""
    assert asked == [(Purpose.FEED, ["foodbank.org"], [None])]
