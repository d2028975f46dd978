"""Sending: alerts that are due go out, those of one watch together.

The mail or delivery and the alerts' new state are written in one transaction, so each is told once:
the outbox and the jobs retry from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from uuid import UUID

from messor.jobs.jobs import enqueue
from messor.mail import outbox
from messor.mail.outbox import NewMail
from messor.ops.webhooks.dispatch import new_delivery
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.watches.queries import Alert
from messor.watches.watches import Watch, get

MANY = 200  # alerts of one message

WAITING = """
SELECT DISTINCT watch_id FROM messor.watch_alerts
 WHERE state = 'due' AND due_at <= (SELECT messor.clock()) LIMIT 1000
"""
TAKE = f"""
UPDATE messor.watch_alerts a SET state = 'sent', sent_at = messor.clock()
 WHERE a.id = ANY (ARRAY(
   SELECT id FROM messor.watch_alerts
    WHERE watch_id = $1 AND state = 'due' AND due_at <= (SELECT messor.clock())
    ORDER BY id LIMIT {MANY} FOR UPDATE SKIP LOCKED))
RETURNING a.id, a.watch_id, a.subject, a.page_id, a.record_id, a.message, a.url, a.details::text AS details,
          a.state, a.created_at, a.sent_at
"""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends what is due."""

    database: Database
    public_url: str | None  # of the console, for links
    has_mail: bool

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Sender:
        return cls(database, settings.public_url, settings.mail_host is not None)

    async def send(self) -> int:
        """Send everything that is due; returns how many alerts."""
        sent = 0
        for row in await self.database.fetch(WAITING):
            async with self.database.transaction() as connection:
                sent += await self._send(connection, row["watch_id"])
        return sent

    async def _send(self, connection: Connection, watch_id: UUID) -> int:
        rows = await connection.fetch(TAKE, watch_id)
        alerts = sorted((Alert.of(row) for row in rows), key=lambda one: one.id)
        if not alerts:  # another process sent them, or the watch was removed with them
            return 0
        watch = await get(connection, watch_id)
        if watch.channel == "mail":
            assert watch.recipient is not None
            mail = NewMail("watch", watch.recipient, subject_of(watch, alerts), self.text(alerts))
            await outbox.post(connection, mail, is_on=self.has_mail)
        elif watch.channel in ("webhook", "slack"):
            assert watch.webhook_id is not None
            key = f"watch:{watch.id}:{alerts[0].id}"
            told = self._message(watch, alerts)
            await enqueue(connection, [new_delivery(watch.webhook_id, key, told)])
        return len(alerts)

    def _message(self, watch: Watch, alerts: Sequence[Alert]) -> dict[str, Any]:
        key = {"id": f"alert_{alerts[0].id}-{alerts[-1].id}", "type": "watch.alert"}
        if watch.channel == "slack":
            # Unescaped, the text of a page could address a whole channel or disguise a link.
            text = escape(f"*{watch.name}*\n{self.text(alerts)}", quote=False)
            return {**key, "text": text}
        watched = {"id": str(watch.id), "name": watch.name}
        return {**key, "watch": watched, "alerts": [self.as_data(one) for one in alerts]}

    def as_data(self, alert: Alert) -> dict[str, Any]:
        """An alert for programs."""
        return {
            "id": alert.id,
            "message": alert.message,
            "subject": alert.subject,
            "url": alert.url,
            "story": self.story(alert),
            "occurred_at": alert.created_at.isoformat(),
            **alert.details,
        }

    def story(self, alert: Alert) -> str | None:
        """Where the console tells the story of the alert's page."""
        if alert.page_id is None or self.public_url is None:
            return None
        return f"{self.public_url.rstrip('/')}/pages/{alert.page_id}"

    def text(self, alerts: Sequence[Alert]) -> str:
        """Alerts for people, each with its evidence and the page's story."""
        return "\n\n".join(self._paragraph(one) for one in alerts) + "\n"

    def _paragraph(self, alert: Alert) -> str:
        lines = [alert.message, *(f"  “{quote}”" for quote in quotes_of(alert))]
        lines += [one for one in (alert.url, self.story(alert)) if one]
        return "\n".join(lines)


def subject_of(watch: Watch, alerts: Sequence[Alert]) -> str:
    """The subject of a mail: the alert itself, or how many there are."""
    if len(alerts) == 1:
        return f"{watch.name}: {alerts[0].message}"
    return f"{watch.name}: {len(alerts)} changes"


def quotes_of(alert: Alert) -> list[str]:
    """What the page says, literally."""
    fields = (alert.details.get("evidence") or {}).get("fields") or {}
    found = [one.get("quote") for one in fields.values() if isinstance(one, dict)]
    return [str(quote)[:300] for quote in found if quote][:5]
