"""Candidates in the console: judges on screen, decisions, keys; nothing hostile runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, expect

from messor.access.members import Member
from messor.access.roles import Role
from messor.scout import candidate_queries, candidates
from messor.scout.candidate_queries import CANDIDATES
from messor.store.database import Database
from tests.console.conftest import Enter, Visitor
from tests.console.found import Found, add_serp, result, seed
from tests.console.test_accessibility import examining
from tests.console.test_browser import NARROW, WIDE, log_in, watched
from tests.console.test_xss import CANARY, OWN, payloads, visit
from tests.crawling import TESTER
from tests.listed import listed

WAITING = "/candidates?status=waiting"
Joined = Callable[..., Awaitable[Member]]
REFLECTED = (
    ("/keywords", "q"), ("/serps/pages", "q"), ("/candidates", "q"), ("/scores", "q"),
    ("/scores/simulate", "cost"), ("/keywords", "after"), ("/candidates", "then"),
)  # fmt: skip


async def waiting(database: Database) -> list[candidates.Candidate]:
    return await listed(CANDIDATES, database, status="PENDING_REVIEW")


async def test_every_judge_is_on_the_page_with_weight_and_words(
    reviewer: Visitor, database: Database
) -> None:
    found = await seed(database, weeks=1)
    first = next(one for one in await waiting(database) if one.domain == "glow-clinic.test")
    page = await reviewer.get(f"{WAITING}&at={first.id}")
    said = await candidate_queries.opinions(database, first.id)
    assert {one.judge for one in said} == set(found.applied.vertical.judges)
    for one in said:
        assert one.explanation in page.said
        assert f"{one.contribution:.3f}" in page.said
    assert sum(one.contribution for one in said) == pytest.approx(first.confidence_score, abs=1e-3)
    for words in ("threshold 0.60", first.url, "botox singapore", "result page snapshot"):
        assert words in page.said, words


async def test_what_its_page_states_is_beside_it(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=1)
    one = next(one for one in await waiting(database) if one.domain == "glow-clinic.test")
    page = await reviewer.get(f"/candidates?at={one.id}")
    assert "botox 0" in page.said.partition("Records ")[2]


async def test_approve_from_the_queue_goes_on_to_the_next(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database, weeks=1)
    first, second, _ = await waiting(database)
    page = await reviewer.get(WAITING)
    assert f'name="back" value="/candidates?status=waiting&amp;at={second.id}"' in page.text
    form = {"act": "approve", "seen": first.status, "back": f"/candidates?at={second.id}"}
    answer = await reviewer.send("/candidates", f"/candidates/{first.id}/decide", form)
    assert answer.place == f"/candidates?at={second.id}"
    now = await candidates.get(database, first.id)
    assert reviewer.member is not None
    assert (now.status, now.reviewed_by) == ("APPROVED", f"member:{reviewer.member.id}")
    steps = await database.fetch(
        "SELECT type FROM messor.events WHERE data ->> 'candidate' = $1 ORDER BY id", str(first.id)
    )
    assert [row["type"] for row in steps][-2:] == ["candidate.in_review", "candidate.approved"]


async def test_to_reject_needs_a_reason(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=1)
    first = (await waiting(database))[0]
    path, here = f"/candidates/{first.id}/decide", f"/candidates?at={first.id}"
    form = {"act": "reject", "reason": "  ", "here": here}
    answer = await reviewer.send("/candidates", path, form)
    assert "Give a reason for the rejection." in (await reviewer.get(answer.place)).said
    assert (await candidates.get(database, first.id)).status == "PENDING_REVIEW"
    await reviewer.send("/candidates", path, {"act": "reject", "reason": "a shop"})
    now = await candidates.get(database, first.id)
    assert (now.status, now.review_reason) == ("REJECTED", "a shop")


async def test_nobody_decides_over_somebody_elses_decision(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database, weeks=1)
    first = (await waiting(database))[0]
    async with database.transaction() as connection:
        taken = await candidates.assign(connection, first, TESTER, actor=TESTER)
        await candidates.reject(connection, taken, actor=TESTER, reason="a directory")
    form = {"act": "approve", "seen": "PENDING_REVIEW"}
    answer = await reviewer.send("/candidates", f"/candidates/{first.id}/decide", form)
    assert "when you opened it" in (await reviewer.get(answer.place)).said
    assert (await candidates.get(database, first.id)).status == "REJECTED"


async def test_what_does_not_wait_cannot_be_decided(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=1)
    for status in ("PENDING_CRAWL", "SKIPPED_LOW_CONFIDENCE", "APPROVED"):
        one = (await listed(CANDIDATES, database, status=status))[0]
        page = await reviewer.get(f"/candidates?at={one.id}")
        assert f"/candidates/{one.id}/decide" not in page.text
        path = f"/candidates/{one.id}/decide"
        await reviewer.send("/candidates", path, {"act": "approve"})
        assert (await candidates.get(database, one.id)).status == status


async def test_many_at_once_each_for_itself(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=1)
    rows = await waiting(database)
    skipped = (await listed(CANDIDATES, database, status="PENDING_CRAWL"))[0]
    form = [("candidate", str(one.id)) for one in (*rows[:2], skipped)]
    answer = await reviewer.send("/candidates", "/candidates", [*form, ("act", "approve")])
    said = (await reviewer.get(answer.place)).said
    assert "2 of 3 candidates: approve done." in said
    assert "does not await review" in said
    assert len(await waiting(database)) == 1
    answer = await reviewer.send("/candidates", "/candidates", [*form, ("act", "reject")])
    assert "A reason is required" in (await reviewer.get(answer.place)).said
    answer = await reviewer.send("/candidates", "/candidates", {"act": "approve"})
    assert "Select at least one candidate" in (await reviewer.get(answer.place)).said


async def test_a_viewer_reads_and_cannot_decide(
    console: str, enter: Enter, database: Database
) -> None:
    await seed(database, weeks=1)
    first = (await waiting(database))[0]
    viewer = await enter(console, Role.VIEWER)
    page = await viewer.get(WAITING)
    assert "Approve" not in page.said
    assert first.title in page.said
    csrf = await viewer.token("/domains")
    path = f"/candidates/{first.id}/decide"
    assert (await viewer.post(path, {"act": "approve"}, csrf=csrf)).status == 403
    assert len(await waiting(database)) == 3


async def test_the_keys_of_the_candidates(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    await seed(database, weeks=1)
    first, second, third = await waiting(database)
    context = await chromium.new_context(viewport=WIDE)
    complaints = watched(context)
    page = await context.new_page()
    await log_in(page, console)
    await page.goto(f"{console}{WAITING}")
    opened = page.locator("#dossier h2")
    await expect(opened).to_contain_text(first.title)
    await page.keyboard.press("j")
    await expect(opened).to_contain_text(second.title)
    await expect(page).to_have_url(f"{console}{WAITING}&at={second.id}")
    await page.keyboard.press("r")
    await page.keyboard.type("a shop, just ask")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(f"{second.url} is rejected.")).to_be_visible()
    await expect(opened).to_contain_text(third.title)
    await page.keyboard.press("a")
    await expect(page.get_by_text(f"{third.url} is approved.")).to_be_visible()
    statuses = [(await candidates.get(database, one.id)).status for one in (first, second, third)]
    assert statuses == ["PENDING_REVIEW", "REJECTED", "APPROVED"]
    assert complaints == []
    await context.close()


async def test_without_scripts_everything_is_a_link_or_a_form(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    await seed(database, weeks=1)
    _, second, _ = await waiting(database)
    context = await chromium.new_context(viewport=WIDE, java_script_enabled=False)
    page = await context.new_page()
    await log_in(page, console)
    await page.get_by_role("link", name="Candidates").first.click()
    await page.locator(".queue").get_by_text(second.title).click()
    await expect(page.locator("#dossier h2")).to_contain_text(second.title)
    await page.get_by_label("Reason", exact=True).fill("no clinic")
    await page.locator("#dossier").get_by_role("button", name="Reject").click()
    await expect(page.get_by_text(f"{second.url} is rejected.")).to_be_visible()
    await page.goto(f"{console}/scores/simulate?vertical=wellness")
    await page.get_by_label("visibility").fill("0.9")
    await page.get_by_role("button", name="Simulate").click()
    await expect(page.get_by_text("Crawls per day, simulated")).to_be_visible()
    await context.close()


@pytest.mark.wide
async def test_every_page_of_discovery_can_be_used_by_everybody(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.ADMIN)
    found = await seed(database)
    context = await chromium.new_context(color_scheme="dark", viewport=NARROW)
    page, examiner = await examining(context)
    await log_in(page, console, Role.ADMIN)
    wrong: list[str] = []
    for path in found.paths:
        await page.goto(f"{console}{path}")
        wrong += [f"{path} {fault}" for fault in await examiner.faults()]
    assert wrong == [], "\n".join(wrong)
    await context.close()


async def _plant(database: Database, found: Found, words: list[str]) -> list[str]:
    """Hostile words wherever engines, files and people put theirs."""
    rows = [
        {**result(place, "evil.test", word, word), "url": word or None}
        for place, word in enumerate(words, 1)
    ]
    rows += [result(place, "", word, word, "related") for place, word in enumerate(words, 1)]
    page = await add_serp(database, found.keywords[0], timedelta(minutes=1), rows)
    gap = await add_serp(database, found.keywords[0], timedelta(minutes=2), [], outcome="failed")
    whole = " ".join(words)[:15_000]
    await database.fetch("UPDATE messor.serp_snapshots SET message = $1 WHERE id = $2", whole, gap)
    await database.fetch(
        """UPDATE messor.candidates SET title = $1, snippet = $1, url = $2, search_query = $1,
                  organisation_name = $1, program_name = $1, search_engine = $3""",
        whole[:5_000],
        "javascript:__ran()",
        words[1],
    )
    await database.fetch("UPDATE messor.judgements SET explanation = $1", whole)
    await database.fetch("UPDATE messor.keywords SET tier_reason = $1", whole[:2_000])
    await database.fetch("UPDATE messor.organisations SET name = left($1, 300)", whole)
    await database.fetch("UPDATE messor.discovery_sessions SET message = $1", whole)
    await database.fetch(
        "UPDATE messor.records SET data = jsonb_build_object('name', $1::text)", whole
    )
    await database.fetch(
        """UPDATE messor.scores SET parts = jsonb_set(parts, '{0,sentence}', to_jsonb($1::text))""",
        whole,
    )
    return [*found.paths, f"/serps/{page}", f"/serps/{gap}", f"/keywords/{found.keywords[0]}"]


@pytest.mark.wide
async def test_nothing_planted_on_result_pages_runs(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.ADMIN)
    words = [word.replace("\x00", "") for word in payloads()][:150]
    paths = await _plant(database, await seed(database, weeks=2), words)
    context = await chromium.new_context(viewport=WIDE)
    told: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    reflected = [f"{path}?{urlencode({name: word})}" for word in OWN for path, name in REFLECTED]
    await visit(page, console, paths + reflected, told)
    assert told == []
    assert await page.locator('a[href^="javascript:"]').count() == 0
    await context.close()
