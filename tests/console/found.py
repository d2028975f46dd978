"""What search-led discovery leaves behind, made through the services as far as they go."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.insight import scoring
from messor.scout import candidates, discovery, keywords, tiers
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.candidates import Candidate
from messor.scout.discovery import Discovery
from messor.scout.judges.model import SearchResult
from messor.scout.judges.panel import Panel
from messor.store.database import Database
from messor.verticals.verticals import Applied
from tests.crawling import TESTER
from tests.insight.making import Site, apply_vertical, make_site, own
from tests.listed import listed

SERP = """
WITH request AS (
  INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key, state, message)
  SELECT $1::uuid, k.id, k.serp_profile_id, $1::uuid::text, CASE WHEN $3 = 'failed' THEN 'gap' ELSE 'answered' END,
         CASE WHEN $3 = 'failed' THEN 'no engine could be asked' END
    FROM messor.keywords k WHERE k.id = $2
  RETURNING id, keyword_id, serp_profile_id
), seen AS (
  UPDATE messor.keywords SET last_snapshot_at = greatest(last_snapshot_at, $4) WHERE id = $2 AND $3 <> 'failed'
), snapshot AS (
  INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key, engine,
                                     outcome, message, captured_at, result_count, judged_in)
  SELECT id, keyword_id, serp_profile_id, id, $1::uuid::text, CASE WHEN $3 = 'failed' THEN '-' ELSE 'searxng' END,
         $3, CASE WHEN $3 <> 'ok' THEN 'no engine could be asked' END, $4, jsonb_array_length($5), $6
    FROM request RETURNING id
)
INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, domain, url, title, snippet, is_best)
SELECT s.id, r.rank, r.block, r.domain, r.url, r.title, r.snippet,
       row_number() OVER (PARTITION BY r.domain, r.block IN ('organic', 'local_pack')
                          ORDER BY r.rank, r.block) = 1
  FROM snapshot s, jsonb_to_recordset($5) AS r (rank int, block text, domain text, url text,
                                                title text, snippet text)
"""
CLINICS = (
    ("glow-clinic.test", "Glow Aesthetics Clinic | Botox and fillers in Singapore"),
    ("novena-skin.test", "Novena Skin Practice — laser and acne treatment"),
    ("orchard-dental.test", "Orchard Dental Surgery: dentist, whitening, implants"),
    ("kneecare.test", "KneeCare Physiotherapy and sports rehabilitation"),
    ("bishan-tcm.test", "Bishan TCM Clinic: acupuncture and massage therapy"),
    ("top10clinics.test", "Top 10 clinics in Singapore, compared"),
)
SURE = (
    *CLINICS[:5],
    ("tampines-dental.test", "Tampines Dental Clinic | dentist in Singapore"),
    ("woodlands-skin.test", "Woodlands Skin Clinic: acne treatment in Singapore"),
)
SNIPPET = "Consultation with our doctors and therapists; treatments for skin, pain and health of patients."


@dataclass
class Found:
    """What was made, by name."""

    applied: Applied
    keywords: list[UUID]
    sites: dict[str, Site]
    session: UUID
    candidates: list[UUID] = field(default_factory=list)
    serp: UUID | None = None
    gap: UUID | None = None

    @property
    def paths(self) -> list[str]:
        """Every page of discovery, each with something on it."""
        name = self.applied.vertical.name
        domain = self.sites["glow-clinic.test"].id
        return [
            "/verticals", f"/verticals/{name}", f"/verticals/{name}/organisations", "/verticals/new",
            f"/keywords?vertical={name}", f"/keywords?vertical={name}&tier=A&q=botox",
            f"/keywords/{self.keywords[0]}", f"/keywords/generate?vertical={name}",
            f"/keywords/expand?vertical={name}", f"/keywords/tiers?vertical={name}",
            f"/serps?vertical={name}", f"/serps/pages?vertical={name}", f"/serps/{self.serp}",
            f"/serps/{self.gap}", f"/serps/domains/glow-clinic.test?vertical={name}",
            f"/discovery?vertical={name}", f"/discovery/{self.session}",
            f"/candidates?vertical={name}", f"/candidates?at={self.candidates[0]}",
            "/candidates?status=REJECTED", f"/scores?vertical={name}",
            f"/scores?vertical={name}&subject=organisation", f"/scores/{domain}?vertical={name}",
            f"/scores/simulate?vertical={name}&visibility=0.9&cost=0",
            f"/scores/calibration?vertical={name}",
        ]  # fmt: skip


def result(
    rank: int, domain: str, title: str, snippet: str = SNIPPET, block: str = "organic"
) -> Any:
    url = f"https://{domain}/services" if domain else None
    return {
        "rank": rank, "block": block, "domain": domain or None, "url": url, "title": title,
        "snippet": snippet,
    }  # fmt: skip


async def add_serp(
    database: Database,
    keyword: UUID,
    ago: timedelta,
    results: list[Any],
    *,
    outcome: str = "ok",
    judged_in: UUID | None = None,
) -> UUID:
    """A result page, or a gap."""
    key, at = new_id(), datetime.now(UTC) - ago
    given = msgspec.json.encode(results).decode()
    await database.fetch(SERP, key, keyword, outcome, at, given, judged_in)
    return key


async def seed(database: Database, vertical: str = "wellness", weeks: int = 8) -> Found:
    """A vertical with keywords, pages of some weeks, a session, candidates, decisions and scores."""
    applied = await apply_vertical(database, vertical)
    await keywords.write(database, applied, ["sg-desktop", "sg-mobile"], actor=TESTER)
    texts = (
        "botox singapore",
        "best botox singapore",
        "dentist singapore",
        "physiotherapy singapore",
    )
    ids = [await _keyword(database, text, tier) for text, tier in zip(texts, "AABC", strict=True)]
    sites = {name: await make_site(database, name) for name, _ in CLINICS[:3]}
    await own(database, applied, "Glow Aesthetics", "glow-clinic.test")
    await own(database, applied, "Novena Skin", "novena-skin.test")
    async with database.transaction() as connection:
        session = await discovery.begin(connection, applied, actor=TESTER)
    found = Found(applied, ids, sites, session)
    await _serps(database, found, weeks)
    await _judge(database, found)
    await _crawl(database, found)
    async with database.transaction() as connection:
        await scoring.apply(connection, applied)
    await tiers.preview(database, applied)
    return found


async def _keyword(database: Database, text: str, tier: str) -> UUID:
    key: UUID | None = await database.fetchval(
        """UPDATE messor.keywords k SET tier = $2, tier_reason = 'value 0.60 = 0.6 for 3 of 3 places'
            FROM messor.serp_profiles p
           WHERE p.id = k.serp_profile_id AND p.name = 'sg-desktop' AND k.keyword_text = $1
           RETURNING k.id""",
        text,
        tier,
    )
    assert key is not None, text
    return key


async def _serps(database: Database, found: Found, weeks: int) -> None:
    """Pages of each week; the second keyword has gaps, and places change."""
    for week in range(weeks, 0, -1):
        ago = timedelta(days=7 * week - 6)
        for place, keyword in enumerate(found.keywords):
            if place == 1 and week in {2, 4}:
                found.gap = await add_serp(database, keyword, ago, [], outcome="failed")
                continue
            turn = (week + place) % 3
            order = [*CLINICS[turn:], *CLINICS[:turn]]
            if week == 1:
                order = [clinic for clinic in order if clinic[0] != "orchard-dental.test"]
            rows = [result(rank, *clinic) for rank, clinic in enumerate(order, 1)]
            rows += [
                result(3, order[week % 4][0], order[week % 4][1], "4.8 (212)", "local_pack"),
                result(1, "adclinic.test", "Botox from $99: book today", block="ad"),
                result(1, "", "is botox safe in singapore?", "", "people_also_ask"),
                result(1, "", "botox price singapore", "", "related"),
            ]
            found.serp = await add_serp(
                database, keyword, ago, rows, judged_in=found.session if week == 1 else None
            )


async def _judge(database: Database, found: Found) -> None:
    """The session judges results; some candidates are decided on."""
    rows = [
        SearchResult(
            f"https://{name}/services",
            name,
            title,
            SNIPPET,
            "searxng",
            "botox singapore",
            rank,
        )
        for rank, (name, title) in enumerate(SURE, 1)
    ]
    rows.append(
        SearchResult(
            "https://film.test/botox", "film.test", "Botox: a film", "A novel and its lyrics.",
            "searxng", "botox singapore", 9,
        )
    )  # fmt: skip
    work = Discovery(database, found.applied, found.session, Panel(found.applied.vertical))
    stats = await work.process(rows)
    async with database.transaction() as connection:
        await discovery.end(connection, found.session, stats)
        made = await listed(
            CANDIDATES, connection, session_id=found.session, status="PENDING_CRAWL"
        )
        made.sort(key=lambda one: (-one.confidence_score, one.id))
        for place, one in enumerate(made[:5]):
            await _go_on(connection, one, place)
    found.candidates = [one.id for one in made]


async def _go_on(connection: Any, one: Candidate, place: int) -> None:
    """The first three wait for a reviewer, two were decided on; the others wait for their crawl."""
    one = await candidates.crawled(connection, one, actor=TESTER)
    if place < 3:
        return
    one = await candidates.assign(connection, one, TESTER, actor=TESTER)
    if place == 3:
        await candidates.reject(connection, one, actor=TESTER, reason="a directory, no clinic")
    else:
        await candidates.approve(connection, one, actor=TESTER)


async def _crawl(database: Database, found: Found) -> None:
    """Pages with records; the first is that of a candidate."""
    for number, (name, site) in enumerate(found.sites.items()):
        pages = [await site.page(f"text {number} {place}") for place in range(4)]
        for place, page in enumerate(pages[: 3 - number]):
            await site.record(page, "service", 0.9 - 0.2 * number, name=f"botox {place}")
        await database.fetch(
            "UPDATE messor.candidates SET page_id = $2 WHERE domain = $1", name, pages[0][0]
        )
        await database.fetch("UPDATE messor.domains SET pages_known = 4 WHERE domain = $1", name)
