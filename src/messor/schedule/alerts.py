"""O-Alerts: tells operators what is wrong, once when it begins and once when it is over.

An alert is an event, so webhooks carry it, and a mail to each address of MESSOR_ALERT_MAIL.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.ledger import events
from messor.ledger.events import Event
from messor.mail import outbox
from messor.mail.outbox import NewMail
from messor.schedule.alert_rules import AlertRule, rules
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.settings import Settings
from messor.store.database import Connection

ACTOR = "O-Alerts"
RAISED, ENDED = "alert.raised", "alert.ended"
STANDING = "SELECT name, message FROM messor.alerts WHERE ended_at IS NULL FOR UPDATE"
RAISE = """
INSERT INTO messor.alerts (name, message) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET message = excluded.message, raised_at = messor.clock(), ended_at = NULL
"""
UPDATE = "UPDATE messor.alerts SET message = $2 WHERE name = $1"
END = "UPDATE messor.alerts SET ended_at = messor.clock() WHERE name = $1"


@dataclass(frozen=True, slots=True)
class Alerts:
    """Which rules there are, and who is told."""

    rules: tuple[AlertRule, ...]
    recipients: tuple[str, ...]
    can_mail: bool

    async def step(self, connection: Connection, _: RunPosition) -> StepResult:
        """Compare what is wrong with what was told; both change in one transaction."""
        told = {row["name"]: row["message"] for row in await connection.fetch(STANDING)}
        counts = {"alerts_raised": 0, "alerts_ended": 0}
        for rule in self.rules:
            message = await rule.message(connection)
            if message is not None and rule.name in told:
                await connection.execute(UPDATE, rule.name, message)
            elif message is not None:
                await connection.execute(RAISE, rule.name, message)
                await self._tell(connection, RAISED, rule.name, message)
                counts["alerts_raised"] += 1
            elif rule.name in told:
                await self._end(connection, rule.name, told[rule.name])
                counts["alerts_ended"] += 1
        for name in told.keys() - {rule.name for rule in self.rules}:
            await self._end(connection, name, told[name])  # its setting was removed
        return StepResult(counts)

    async def _end(self, connection: Connection, name: str, message: str) -> None:
        await connection.execute(END, name)
        await self._tell(connection, ENDED, name, message)

    async def _tell(self, connection: Connection, kind: str, name: str, message: str) -> None:
        await events.record(
            connection, [Event(kind, ACTOR, data={"alert": name, "message": message})]
        )
        is_over = kind == ENDED
        subject = f"Messor: {name} is well again" if is_over else f"Messor: {name} needs attention"
        body = f"It is over. It was: {message}\n" if is_over else f"{message}\n"
        for recipient in self.recipients:
            mail = NewMail("alert", recipient, subject, body)
            await outbox.post(connection, mail, is_on=self.can_mail)


def alerting(settings: Settings) -> Orchestrator:
    """The orchestrator with the rules and addresses of the settings."""
    alerts = Alerts(tuple(rules(settings)), tuple(settings.alert_mail), bool(settings.mail_host))
    return Orchestrator(
        "O-Alerts",
        "tells by event, webhook and mail what needs attention, and when it is over",
        "*/5 * * * *",
        alerts.step,
    )
