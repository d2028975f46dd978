"""Stores friction: logs every signal and raises the host's risk by its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.core import clock
from messor.politeness.lanes import Lane
from messor.store.database import Connection

RECORD = """
WITH given AS (
  SELECT g.*, (SELECT messor.clock()) - make_interval(secs => g.age) AS at
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::real[], $7::real[],
                $8::float8[])
         AS g (host_id, token, page_id, signal, points, score, age)
    JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
), logged AS (
  INSERT INTO messor.friction_log (occurred_at, host_id, page_id, signal, points, score)
  SELECT at, host_id, page_id, signal, points, score FROM given
)
UPDATE messor.hosts h
   SET risk_score = least(messor.risk_at(h.risk_score, h.risk_at, n.at) + n.points, 100),
       risk_at = n.at, updated_at = messor.clock()
  FROM (SELECT host_id, sum(points)::real AS points, max(at) AS at FROM given GROUP BY 1) n
 WHERE h.id = n.host_id
"""


@dataclass(frozen=True, slots=True)
class Friction:
    """One friction signal of a page."""

    lane: Lane
    page_id: int
    signal: str
    points: float
    score: float  # of the host afterwards
    met_at: float  # on the monotonic clock


async def record(connection: Connection, worker_id: int, signals: Sequence[Friction]) -> None:
    now = clock.now()
    await connection.execute(
        RECORD,
        worker_id,
        [friction.lane.host_id for friction in signals],
        [friction.lane.token for friction in signals],
        [friction.page_id for friction in signals],
        [friction.signal for friction in signals],
        [friction.points for friction in signals],
        [friction.score for friction in signals],
        [now - friction.met_at for friction in signals],
    )
