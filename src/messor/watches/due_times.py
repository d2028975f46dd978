"""When an alert is due: at once, outside quiet hours, or with the next digest, in the watch's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from messor.watches.watches import Watch

MONDAY = 0


def due_at(watch: Watch, now: datetime) -> datetime:
    """The moment at which an alert of now is to be sent."""
    local = now.astimezone(ZoneInfo(watch.zone))
    if watch.digest != "at_once":
        return _next_digest(watch, local).astimezone(UTC)
    if not _is_quiet(watch, local.hour):
        return now
    assert watch.quiet_to is not None
    return _next_hour(local, watch.quiet_to).astimezone(UTC)


def _next_digest(watch: Watch, local: datetime) -> datetime:
    moment = _next_hour(local, watch.hour)
    if watch.digest == "weekly":
        moment += timedelta(days=(MONDAY - moment.weekday()) % 7)
    return moment


def _next_hour(local: datetime, hour: int) -> datetime:
    """The next time the local clock shows this hour."""
    moment = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    return moment if moment > local else moment + timedelta(days=1)


def _is_quiet(watch: Watch, hour: int) -> bool:
    """Quiet hours may span midnight; equal ends mean none."""
    start, end = watch.quiet_from, watch.quiet_to
    if start is None or end is None or start == end:
        return False
    return start <= hour < end if start < end else hour >= start or hour < end
