"""Scores in the console: every part on screen, what-if before applying, weights put in force, calibration."""

from __future__ import annotations

import re

import pytest

from messor.errors import UsageError
from messor.insight import score_queries
from messor.insight.score_queries import SCORES
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.reweigh import with_weights
from tests.console.conftest import Visitor
from tests.console.found import seed
from tests.insight.making import apply_vertical, decide_candidates
from tests.listed import listed

FUNDING = files.shipped("funding").vertical.version
NOW = files.shipped("wellness").vertical.version
WEIGHTS = ("visibility", "content_change", "record_yield", "quality", "friction", "cost")


async def test_every_score_decomposes_on_screen(reviewer: Visitor, database: Database) -> None:
    await seed(database)
    rows = await listed(SCORES, database)
    page = await reviewer.get("/scores?vertical=wellness")
    for row in rows:
        assert f"{row.score:.3f}" in page.said
        assert sum(part.contribution for part in row.parts) == pytest.approx(row.score)
        one = await reviewer.get(f"/scores/{row.subject_id}?vertical=wellness")
        for part in row.parts:
            assert part.sentence in one.said
            assert f"{part.contribution:.3f}" in one.said
    assert "unknown, not counted" in one.said
    levels: list[str] = [row.track_level for row in rows]
    for level, every, days in (("A", "daily", 1), ("B", "weekly", 7)):
        many = levels.count(level)
        told = f"{many} domains?, {4 * many / days:.1f} crawls per day"
        assert re.search(rf"{every}\s+{told}", page.said), "four pages each"


async def test_only_the_last_scoring_is_listed(reviewer: Visitor, database: Database) -> None:
    found = await seed(database, weeks=1)
    for _ in range(2):
        await reviewer.send("/scores?vertical=wellness", "/scores", {"vertical": "wellness"})
    rows = await listed(SCORES, database)
    assert len(rows) == len({row.subject_id for row in rows}) == 3
    given = await score_queries.over_time(database, found.applied, rows[0].subject_id)
    assert len(given) == 3
    page = await reviewer.get(f"/scores/{rows[0].subject_id}?vertical=wellness")
    assert "3 scorings" in page.said


async def test_scores_are_filtered_and_paged(database: Database) -> None:
    await seed(database, weeks=1)
    rows = await listed(SCORES, database)
    level = rows[0].track_level
    only = await listed(SCORES, database, level=level, vertical="wellness")
    assert [row.id for row in only] == [row.id for row in rows if row.track_level == level]
    assert [row.name for row in await listed(SCORES, database, q="GLOW")] == ["glow-clinic.test"]
    owners = await listed(SCORES, database, subject="organisation", order="name")
    assert [row.name for row in owners] == ["Glow Aesthetics", "Novena Skin"]
    best = await listed(SCORES, database, min_score=rows[0].score)
    assert [row.id for row in best] == [row.id for row in rows if row.score >= rows[0].score]
    assert len(best) < len(rows)
    assert await listed(SCORES, database, vertical="funding") == []
    down = await listed(SCORES, database, order="score")
    assert [row.score for row in down] == sorted(row.score for row in rows)


async def test_a_simulation_writes_nothing(reviewer: Visitor, database: Database) -> None:
    await seed(database)
    before = await database.fetchval("SELECT count(*) FROM messor.scores")
    only = "&".join(f"{part}={1 if part == 'content_change' else 0}" for part in WEIGHTS)
    page = await reviewer.get(f"/scores/simulate?vertical=wellness&{only}")
    assert f"Publishing creates version {NOW + 1} of wellness" in page.said
    assert re.search(r"Level changes\s+3\s+of 3 domains", page.said)
    assert page.text.count("glow-clinic.test") >= 1
    assert await database.fetchval("SELECT count(*) FROM messor.scores") == before
    assert (await verticals.get(database, "wellness")).vertical.version == NOW


@pytest.mark.parametrize(
    "query, said",
    [
        ("visibility=heavy", "is not a number"),
        ("visibility=-1", "between 0 and 100"),
        ("visibility=nan", "between 0 and 100"),
        ("&".join(f"{part}=0" for part in WEIGHTS), "At least one weight must exceed 0"),
    ],
)
async def test_weights_that_cannot_be_are_refused(
    reviewer: Visitor, database: Database, query: str, said: str
) -> None:
    await apply_vertical(database)
    page = await reviewer.get(f"/scores/simulate?vertical=wellness&{query}")
    assert page.status == 200
    assert said in page.said


async def test_weights_are_put_in_force_as_the_next_version(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database)
    form = {"vertical": "wellness", "version": str(NOW), "visibility": "0", "content_change": "0.9"}
    answer = await reviewer.send("/scores/simulate?vertical=wellness", "/scores", form)
    assert answer.place == "/scores?vertical=wellness"
    now = await verticals.get(database, "wellness")
    assert now.vertical.version == NOW + 1
    assert now.vertical.scoring.weights["content_change"] == 0.9
    assert f"were scored with version {NOW + 1}" in (await reviewer.get(answer.place)).said
    late = await reviewer.send("/scores/simulate?vertical=wellness", "/scores", form)
    assert "reload and try again" in (await reviewer.get(late.place)).said
    assert (await verticals.get(database, "wellness")).vertical.version == NOW + 1


async def test_calibration_holds_judges_against_reviewers(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database)
    page = await reviewer.get("/scores/calibration?vertical=wellness")
    assert "1 of 2 reviewed candidates were approved" in page.said
    for words in (
        "keyword",
        "snippet quality",
        "confidence",
        "Brier",
        "Too few decisions to suggest a threshold",
    ):
        assert words in page.said, words


@pytest.mark.parametrize("name", files.SHIPPED)
async def test_other_weights_change_nothing_else_of_a_file(database: Database, name: str) -> None:
    applied = await apply_vertical(database, name)
    file = with_weights(applied, {"visibility": 1.5})
    before = applied.vertical.model_dump()
    after = file.vertical.model_dump()
    assert after.pop("version") == before.pop("version") + 1
    assert after["scoring"]["weights"].pop("visibility") == 1.5
    before["scoring"]["weights"].pop("visibility")
    assert after == before
    changed = sum(
        old != new
        for old, new in zip(applied.source.splitlines(), file.source.splitlines(), strict=True)
    )
    assert changed == 2


async def test_weights_written_as_a_table_are_changed_too(database: Database) -> None:
    source = files.shipped("wellness").source
    inline = next(line for line in source.splitlines() if line.startswith("weights"))
    table = "\n[scoring.weights]\n" + "\n".join(
        inline.partition("{")[2].partition("}")[0].strip().split(", ")
    )
    async with database.transaction() as connection:
        file = files.understand(source.replace(inline, table), "mine.toml")
        applied, _ = await verticals.apply(connection, file, actor="test")
    assert with_weights(applied, {"cost": 7.0}).vertical.scoring.weights["cost"] == 7.0


async def test_a_file_that_cannot_be_changed_safely_is_refused(database: Database) -> None:
    source = files.shipped("wellness").source
    inline = next(line for line in source.splitlines() if line.startswith("weights"))
    dotted = "\n".join(
        f"weights.{pair}" for pair in inline.partition("{")[2].partition("}")[0].strip().split(", ")
    )
    async with database.transaction() as connection:
        file = files.understand(source.replace(inline, dotted), "mine.toml")
        applied, _ = await verticals.apply(connection, file, actor="test")
    with pytest.raises(UsageError, match="cannot be changed automatically"):
        with_weights(applied, {"cost": 7.0})


async def test_judge_weights_are_shown_with_figures_then_applied(
    reviewer: Visitor, database: Database
) -> None:
    await decide_candidates(database, 40)
    place = "/scores/calibration?vertical=funding"
    assert "0 of 40 would be wrong instead of 10" in (await reviewer.get(place)).said
    form = {"vertical": "funding", "version": str(FUNDING)}
    answer = await reviewer.send(place, "/scores/calibration", form)
    assert f"Version {FUNDING + 1} has these weights" in (await reviewer.get(answer.place)).said
    late = await reviewer.send(place, "/scores/calibration", form)
    assert "reload and try again" in (await reviewer.get(late.place)).said
