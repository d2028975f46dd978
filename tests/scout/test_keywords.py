"""Keywords: made from templates, grown from suggestions, tiered by what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import asyncpg
import pytest

from messor.core.ids import new_id
from messor.scout import expansion, keywords, tiers
from messor.scout.expansion import DriftControl, Suggestion
from messor.scout.windows import window_of
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.model import GeoSet, Service, Template
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


@pytest.mark.parametrize(
    "text", ["Botox Singapore", "botox\t \n singapore", "  botox singapore ", "BOTOX SINGAPORE"]
)
async def test_case_and_spaces_make_no_other_keyword(
    database: Database, apply: Apply, text: str
) -> None:
    applied = await apply("wellness")
    await add_keyword(database, applied, "botox singapore", "sg-desktop")
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(
            "INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id)"
            " SELECT $1, serp_profile_id, vertical_id FROM messor.keywords",
            text,
        )
    await database.fetch(
        "UPDATE messor.keywords SET keyword_text = $1", text
    )  # as somebody wrote it past Messor
    async with database.transaction() as connection:
        same = await keywords.add(
            connection, applied, "botox  SINGAPORE", names=["sg-desktop"], actor="test"
        )
        other = await keywords.add(
            connection, applied, "botoxsingapore", names=["sg-desktop"], actor="test"
        )
    assert (same, other) == (0, 1)


async def test_letters_of_other_scripts_have_case_too(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    await add_keyword(database, applied, "ГРАНТ София", "us-desktop")
    assert await database.fetchval("SELECT messor.keyword_key('  Грант   СОФИЯ ')") == "грант софия"


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
        " engine, outcome, message) VALUES ($1, $2, $3, $4, 'w', 'serper', $5, 'x')",
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


async def grow(database: Database, applied: Applied) -> list[Suggestion]:
    async with database.transaction() as connection:
        return (await expansion.expand(connection, applied, actor="test")).suggestions


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
    found = {one.text: one for one in await grow(database, applied)}
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
    assert not [one for one in await grow(database, applied) if one.taken]


async def test_an_expansion_ends_after_two_steps(database: Database, apply: Apply) -> None:
    applied = await seeded(database, apply)
    texts = ["research grant europe", "research grant deadline", "research grant award"]
    for text, following in zip(texts, [*texts[1:], "research grant prize"], strict=True):
        await snapshot(database, text, [("related", following, "")])
        await grow(database, applied)
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
    await database.fetch(
        "UPDATE messor.keywords SET source = 'template', tier = 'B', tier_set_by = NULL"
    )
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
    async with database.transaction() as connection:
        done = await tiers.apply(connection, applied, actor="test")
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


def test_a_generation_fills_every_template_with_every_word_and_place() -> None:
    vertical = files.shipped("wellness").vertical
    service = Service(name="facial", synonyms=("face treatment",))
    small = vertical.model_copy(
        update={
            "services": (service,),
            "geo_sets": {"places": GeoSet(modifiers=("novena", "katong"))},
            "templates": (
                Template(template="{service} {geo}", geo_set="places"),
                Template(template="best {service}"),
            ),
        }
    )
    made = keywords.generate(small)
    assert [phrase.text for phrase in made.phrases] == [
        *("facial novena", "facial katong", "face treatment novena", "face treatment katong"),
        *("best facial", "best face treatment"),
    ]


async def test_a_seed_yields_ten_keywords_at_most(database: Database, apply: Apply) -> None:
    applied = await seeded(database, apply)
    words = ("award", "prize", "fund", "fellowship", "stipend", "bursary", "deadline", "apply",
             "eligibility", "programme", "foundation", "trust")  # fmt: skip
    related = [("related", f"research grant {word}", "") for word in words]
    await snapshot(database, "research grant europe", related)
    found = await grow(database, applied)
    assert [one.taken for one in found] == [True] * 10 + [False] * 2
    assert found[-1].message == "its seed already yielded 10 keywords"


@pytest.mark.parametrize(
    "text, is_taken", [("grant ostrich", True), ("grant ostrich volcano", False)]
)
def test_half_of_a_phrase_may_be_others_words(text: str, is_taken: bool) -> None:
    drift, refusal = DriftControl(files.shipped("funding").vertical).judge(text)
    assert drift == pytest.approx(0.5 if is_taken else 2 / 3)
    assert (refusal is None) is is_taken


@pytest.mark.parametrize(
    "places, finds, tier",
    [(3, 0, "A"), (2, 2, "A"), (2, 1, "B"), (1, 0, "B"), (0, 3, "B"), (0, 2, "C"), (0, 0, "C")],
)
async def test_a_tier_is_a_range_of_values(
    database: Database, apply: Apply, places: int, finds: int, tier: str
) -> None:
    """0.6 for places and 0.4 for candidates: A from 0.5, B from 0.2."""
    applied = await measured(database, apply, places, finds)
    async with database.transaction() as connection:
        await tiers.apply(connection, applied, actor="test")
    row = await database.fetchrow("SELECT tier, value, active FROM messor.keywords")
    assert row is not None
    expected = 0.6 * places / 3 + 0.4 * finds / 5
    assert (row["tier"], row["active"]) == (tier, True)
    assert row["value"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("figure, tier", [(0.5, "A"), (0.2, "B")])
def test_tiers_begin_where_they_are_said_to(figure: float, tier: str) -> None:
    assert {"A": tiers.A_FROM, "B": tiers.B_FROM}[tier] == figure


@pytest.mark.parametrize(
    "pages, source, pruned",
    [(2, "template", 0), (3, "template", 1), (3, "related", 1), (3, "manual", 0)],
)
async def test_a_keyword_rests_after_three_pages_without_yield(
    database: Database, apply: Apply, pages: int, source: str, pruned: int
) -> None:
    applied = await measured(database, apply, 0, 0, pages=pages, source=source)
    async with database.transaction() as connection:
        assert (await tiers.apply(connection, applied, actor="test")).pruned == pruned


async def measured(
    database: Database,
    apply: Apply,
    places: int,
    finds: int,
    *,
    pages: int = 1,
    source: str = "template",
) -> Applied:
    """A keyword whose pages show so many own domains, and that found so many candidates."""
    applied = await apply("funding")
    await add_keyword(database, applied, "grant", "us-desktop")
    await database.fetch("UPDATE messor.keywords SET source = $1, tier_set_by = NULL", source)
    owner, session = new_id(), new_id()
    await database.fetch(
        "INSERT INTO messor.organisations (id, vertical_id, name, name_key, created_by)"
        " VALUES ($1, $2, 'Alder', 'alder', 'test')",
        owner,
        applied.id,
    )
    names = [f"own{n}.test" for n in range(places)]
    for name in names:
        await database.fetch(
            "INSERT INTO messor.organisation_domains VALUES ($1, $2, $3)", applied.id, name, owner
        )
    await database.fetch(
        "INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)"
        " VALUES ($1, $2, 1, 'test')",
        session,
        applied.id,
    )
    for number in range(finds):
        await database.fetch(
            "INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url, url_hash,"
            " search_engine, search_query, position, confidence_score, status, validation_notes)"
            " VALUES ($1, $2, $3, $4, $4, sha256($4::text::bytea), 'e', 'grant', 1, 0.9,"
            " 'PENDING_CRAWL', '{}')",
            new_id(),
            session,
            applied.id,
            f"found{number}.test",
        )
    shown = [("organic", "", name) for name in (*names, "other.test")]
    for _ in range(pages):
        await snapshot(database, "grant", shown)
    return applied
