"""Keywords: made from templates, grown from suggestions, tiered by what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import asyncpg
import pytest

from messor.core.ids import new_id
from messor.scout import expansion, keywords, tiers
from messor.scout.expansion import DriftControl
from messor.scout.windows import window_of
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.verticals import Applied
from tests.scout.conftest import Apply, add_keyword


def many(services: int, places: int) -> files.VerticalFile:
    """A vertical that makes services by places texts."""
    source = files.shipped("products").source
    head, _, rest = source.partition("[[services]]")
    tail = rest[rest.index("[geo_sets.markets]") :]
    rows = "".join(f'[[services]]\nname = "service {n}"\n\n' for n in range(services))
    geo = ", ".join(f'"place {n}"' for n in range(places))
    _, _, after = tail.partition("[[templates]]")
    after = after[after.index("[profiles.us-desktop]") :]
    made = f'{head}{rows}[geo_sets.markets]\nmodifiers = [{geo}]\n\n[[templates]]\ntemplate = "{{service}} {{geo}}"\ngeo_set = "markets"\n\n{after}'
    return files.understand(made, "made.toml")


async def test_a_generation_is_previewed_then_written_once(
    database: Database, apply: Apply
) -> None:
    applied = await apply("wellness")
    before = await keywords.preview(database, applied)
    assert before.known == 0
    assert before.texts * before.profiles == before.new > 100
    assert before.sample[0] == "dermatologist singapore"
    assert await database.fetchval("SELECT count(*) FROM messor.keywords") == 0
    assert await keywords.write(database, applied, actor="test") == before.new
    after = await keywords.preview(database, applied)
    assert (after.new, after.known) == (0, before.new)
    assert await keywords.write(database, applied, actor="test") == 0


async def test_a_keyword_is_unique_by_text_and_profile(database: Database, apply: Apply) -> None:
    applied = await apply("wellness")
    await keywords.write(database, applied, ["sg-desktop"], actor="test")
    count = await database.fetchval("SELECT count(*) FROM messor.keywords")
    await keywords.write(database, applied, ["sg-mobile"], actor="test")
    assert await database.fetchval("SELECT count(*) FROM messor.keywords") == 2 * count
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(
            "INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id)"
            " SELECT keyword_text, serp_profile_id, vertical_id FROM messor.keywords LIMIT 1"
        )


async def test_many_keywords_take_a_statement_for_each_batch(
    database: Database,
) -> None:
    async with database.transaction() as connection:
        applied, _ = await verticals.apply(connection, many(100, 200), actor="test")
    before = database.round_trips
    assert await keywords.write(database, applied, actor="test") == 60_000
    batches = 20_000 // keywords.BATCH
    # A batch is one statement in one transaction; the profiles and the event come on top.
    assert database.round_trips - before == 3 * batches + 1 + 3


def test_texts_meet_in_one_form() -> None:
    assert keywords.normal("  Café\u0301  BAR\tX\x00 ") == "caf\u00e9\u0301 bar x"
    assert keywords.normal("Cafe\u0301") == keywords.normal("CAF\u00c9")


@pytest.mark.parametrize(
    "tier,key,ends",
    [
        ("A", "2026-11-16", (2026, 11, 17)),
        ("B", "2026-W47", (2026, 11, 23)),
        ("C", "2026-11", (2026, 12, 1)),
    ],
)
def test_windows_follow_the_tier(tier: str, key: str, ends: tuple[int, int, int]) -> None:
    window = window_of(tier, datetime(2026, 11, 16, 13, 5, tzinfo=UTC))
    assert (window.key, window.ends_at) == (key, datetime(*ends, tzinfo=UTC))


async def snapshot(
    database: Database, text: str, results: Sequence[tuple[str, str, str]], outcome: str = "ok"
) -> None:
    """A kept page of a keyword: (block, title, domain) each."""
    row = await database.fetchrow(
        "SELECT id, serp_profile_id FROM messor.keywords WHERE keyword_text = $1", text
    )
    assert row is not None
    request, key = new_id(), new_id()
    await database.fetch(
        "INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key, state)"
        " VALUES ($1, $2, $3, $4, 'answered')",
        request,
        row["id"],
        row["serp_profile_id"],
        str(request),
    )
    await database.fetch(
        "INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key,"
        " engine, outcome, said) VALUES ($1, $2, $3, $4, 'w', 'serper', $5, 'x')",
        key,
        row["id"],
        row["serp_profile_id"],
        request,
        outcome,
    )
    for rank, (block, title, domain) in enumerate(results, 1):
        await database.fetch(
            "INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, title, domain)"
            " VALUES ($1, $2, $3, $4, $5)",
            key,
            rank,
            block,
            title,
            domain,
        )


async def seeded(database: Database, apply: Apply) -> Applied:
    applied = await apply("funding")
    await add_keyword(database, applied, "research grant europe", "us-desktop")
    return applied


async def test_an_expansion_keeps_its_seed_and_refuses_what_drifts(
    database: Database, apply: Apply
) -> None:
    applied = await seeded(database, apply)
    await snapshot(
        database,
        "research grant europe",
        [
            ("related", "Research fellowship application deadline", ""),
            ("related", "hugh grant films", ""),
            ("related", "horizon telescope pictures", ""),
            ("people_also_ask", "How do I apply for a research grant?", ""),
            ("related", "grant ostrich volcano teapot", ""),
            ("organic", "small grants for charities", ""),
        ],
    )
    found = {one.text: one for one in await expansion.expand(database, applied, actor="test")}
    assert found["research fellowship application deadline"].taken
    assert found["how do i apply for a research grant"].taken
    assert "hugh grant" in found["hugh grant films"].message
    assert "no service" in found["horizon telescope pictures"].message
    assert "drifts" in found["grant ostrich volcano teapot"].message
    rows = await database.fetch(
        "SELECT k.source, k.seed_depth, s.keyword_text AS seed FROM messor.keywords k"
        " JOIN messor.keywords s ON s.id = k.seed_keyword_id ORDER BY k.source"
    )
    assert [tuple(row) for row in rows] == [
        ("people_also_ask", 1, "research grant europe"),
        ("related", 1, "research grant europe"),
    ]
    assert not [one for one in await expansion.expand(database, applied, actor="test") if one.taken]


async def test_an_expansion_ends_after_two_steps(database: Database, apply: Apply) -> None:
    applied = await seeded(database, apply)
    texts = ["research grant europe", "research grant deadline", "research grant award"]
    for text, following in zip(texts, [*texts[1:], "research grant prize"], strict=True):
        await snapshot(database, text, [("related", following, "")])
        await expansion.expand(database, applied, actor="test")
    known = await database.fetch("SELECT keyword_text FROM messor.keywords ORDER BY seed_depth")
    assert [row[0] for row in known] == texts


def test_every_template_is_within_its_own_drift() -> None:
    for name in files.SHIPPED:
        vertical = files.shipped(name).vertical
        control = DriftControl(vertical)
        refused = [
            phrase.text
            for phrase in keywords.generate(vertical).phrases
            if len(phrase.text.split()) > 1 and control.judge(phrase.text)[1] is not None
        ]
        assert not refused, (name, refused[:3])


async def test_tiers_follow_what_was_measured(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    for text in ("valued", "empty", "unseen", "failing"):
        await add_keyword(database, applied, f"grant {text}", "us-desktop")
    await database.fetch("UPDATE messor.keywords SET source = 'template', tier = 'B'")
    owner = new_id()
    await database.fetch(
        "INSERT INTO messor.organisations (id, vertical_id, name, name_key, created_by)"
        " VALUES ($1, $2, 'Alder', 'alder', 'test')",
        owner,
        applied.id,
    )
    for domain in ("a.test", "b.test", "c.test"):
        await database.fetch(
            "INSERT INTO messor.organisation_domains VALUES ($1, $2, $3)", applied.id, domain, owner
        )
    ours = [("organic", "", domain) for domain in ("a.test", "b.test", "c.test")]
    await snapshot(database, "grant valued", ours)
    for _ in range(tiers.PRUNE_AFTER):
        await snapshot(database, "grant empty", [("organic", "", "other.test")])
        await snapshot(database, "grant failing", [], outcome="failed")
    changes = {change.text: change for change in await tiers.preview(database, applied)}
    assert changes["grant valued"].after == "A"
    assert changes["grant empty"].prune
    done = await tiers.apply(database, applied, actor="test")
    assert (done.measured, done.pruned) == (2, 1)
    rows = await database.fetch(
        "SELECT keyword_text, tier, active, value, tier_reason FROM messor.keywords"
    )
    kept = {row["keyword_text"]: row for row in rows}
    assert kept["grant valued"]["tier"] == "A"
    assert "3 of 3 places" in kept["grant valued"]["tier_reason"]
    assert not kept["grant empty"]["active"]
    # What was not seen well is not worth nothing.
    for text in ("grant unseen", "grant failing"):
        assert (kept[text]["tier"], kept[text]["active"], kept[text]["value"]) == ("B", True, None)
