"""What a site states may be no date, no XML, or markup of a chat: watches still tell, and only tell."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest

from messor.settings import Settings
from messor.store.database import Database
from messor.watches import feeds, sweep
from messor.watches.queries import Alert
from messor.watches.send import Sender
from messor.watches.watches import Watch
from tests.watches.conftest import watch_for

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
DUE = """
SELECT count(*) FROM (VALUES ('2027-02-30'), ('2026-13-45'), ('soon'), ('2026-11-20T10:00')) AS v (deadline)
 CROSS JOIN LATERAL (SELECT jsonb_build_object('deadline', v.deadline) AS data) r WHERE {}
"""


def alert_of(watch: Watch, message: str) -> Alert:
    return Alert(
        id=1, watch_id=watch.id, subject="page:1", page_id=1, record_id=None, message=message,
        url="https://shop.example/", details={}, state="sent", created_at=NOW, sent_at=NOW,
    )  # fmt: skip


async def test_markup_of_a_page_does_not_address_a_channel(
    database: Database, settings: Settings
) -> None:
    watch = await watch_for(database, "pages", {"when": "new"})
    sender = Sender.of(settings, database)
    text = sender.text([alert_of(watch, "New: <!channel> <https://evil.example|Win> & more")])
    assert "<!channel>" in text  # a mail says it as it is
    object.__setattr__(watch, "channel", "slack")
    told = sender._message(
        watch, [alert_of(watch, "New: <!channel> <https://evil.example|Win> & more")]
    )
    assert "New: &lt;!channel&gt; &lt;https://evil.example|Win&gt; &amp; more" in told["text"]


@pytest.mark.parametrize("form", ["rss", "atom"])
async def test_a_feed_with_characters_that_xml_bars_is_read(
    database: Database, settings: Settings, form: feeds.Form
) -> None:
    watch = await watch_for(database, "pages", {"when": "new"})
    sender = Sender.of(settings, database)
    written = feeds.render(form, watch, [alert_of(watch, "New: a\ufffe\uffff\x01b")], sender)
    assert "New: ab" in [one.text for one in ET.fromstring(written).iter()]


async def test_a_deadline_that_is_no_date_stops_no_sweep(database: Database) -> None:
    days, fits = "10", "true"
    sql = sweep._RECORDS.format(
        now=f"SELECT '{NOW.isoformat()}'::timestamptz", days=days, fits=fits, limit=9
    )
    condition = sql.partition("AND left(")[2].partition(" ORDER BY")[0]
    assert await database.fetchval(DUE.format("left(" + condition)) == 1


async def test_a_watch_of_deadlines_is_swept(database: Database) -> None:
    await watch_for(database, "records", {"when": "deadline", "days": 10})
    assert await sweep.sweep(database)
    assert not await sweep.sweep(database)  # again in an hour
