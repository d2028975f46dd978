"""A watch's alerts as RSS 2.0, Atom or JSON Feed 1.1, for readers that know its token."""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import format_datetime
from typing import Literal
from xml.etree import ElementTree as ET

import msgspec

from messor.store.database import Connection, Database
from messor.watches.queries import ALERTS, Alert, AlertFilter
from messor.watches.send import Sender, quotes_of
from messor.watches.watches import Watch

Form = Literal["rss", "atom", "json"]
MEDIA_TYPES: dict[Form, str] = {
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "json": "application/feed+json",
}
MOST = 100
_ATOM = "http://www.w3.org/2005/Atom"
# Characters that XML 1.0 cannot hold.
_BARRED = dict.fromkeys({*range(32), 0xFFFE, 0xFFFF} - {9, 10, 13})


async def newest_alerts(source: Connection | Database, watch: Watch) -> list[Alert]:
    """What the watch told last, newest first."""
    page = await ALERTS.read(source, AlertFilter(watch_id=watch.id, state="sent"), limit=MOST)
    return page.items


def render(form: Form, watch: Watch, alerts: Sequence[Alert], sender: Sender) -> bytes:
    """The feed as a document."""
    return {"rss": _rss, "atom": _atom, "json": _json}[form](watch, alerts, sender)


def _link(alert: Alert, sender: Sender) -> str:
    return sender.story(alert) or alert.url or f"urn:messor:alert:{alert.id}"


def _content(alert: Alert) -> str:
    return "\n".join([alert.message, *(f"“{quote}”" for quote in quotes_of(alert))])


def _rss(watch: Watch, alerts: Sequence[Alert], sender: Sender) -> bytes:
    root = ET.Element("rss", version="2.0")
    channel = ET.SubElement(root, "channel")
    _text(channel, "title", watch.name)
    _text(channel, "link", sender.public_url or f"urn:messor:watch:{watch.id}")
    _text(channel, "description", f"Alerts of the watch {watch.name}")
    for alert in alerts:
        item = ET.SubElement(channel, "item")
        _text(item, "title", alert.message)
        _text(item, "link", _link(alert, sender))
        _text(item, "description", _content(alert))
        _text(item, "guid", f"urn:messor:alert:{alert.id}").set("isPermaLink", "false")
        _text(item, "pubDate", format_datetime(alert.sent_at or alert.created_at))
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _atom(watch: Watch, alerts: Sequence[Alert], sender: Sender) -> bytes:
    root = ET.Element("feed", xmlns=_ATOM)
    _text(root, "id", f"urn:messor:watch:{watch.id}")
    _text(root, "title", watch.name)
    newest = alerts[0].sent_at or alerts[0].created_at if alerts else watch.created_at
    _text(root, "updated", newest.isoformat())
    _text(ET.SubElement(root, "author"), "name", "Messor")
    for alert in alerts:
        entry = ET.SubElement(root, "entry")
        _text(entry, "id", f"urn:messor:alert:{alert.id}")
        _text(entry, "title", alert.message)
        _text(entry, "updated", (alert.sent_at or alert.created_at).isoformat())
        ET.SubElement(entry, "link", href=_link(alert, sender))
        _text(entry, "content", _content(alert)).set("type", "text")
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _json(watch: Watch, alerts: Sequence[Alert], sender: Sender) -> bytes:
    items = [
        {
            "id": f"urn:messor:alert:{alert.id}",
            "url": _link(alert, sender),
            "title": alert.message,
            "content_text": _content(alert),
            "date_published": (alert.sent_at or alert.created_at).isoformat(),
            "_messor": sender.as_data(alert),
        }
        for alert in alerts
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": watch.name, "items": items}
    return msgspec.json.encode(feed)


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    made = ET.SubElement(parent, name)
    made.text = text.translate(_BARRED)
    return made
