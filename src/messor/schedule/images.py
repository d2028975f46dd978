"""O-Images: pictures of products become tasks, where the operator wants them."""

from __future__ import annotations

from messor.frontier import images
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.settings import Settings
from messor.store.database import Connection

PER_STEP = 500


def imaging(settings: Settings) -> Orchestrator:
    """The orchestrator of an installation that downloads pictures of some domains."""
    names = [name.strip().lower() for name in settings.image_domains]

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        # The place is the last picture looked at.
        await images.follow(connection, PER_STEP)
        done = await images.enlist(
            connection,
            place.host_id,
            names,
            per_page=settings.images_per_page,
            most=PER_STEP,
            max_moves=settings.max_redirects,
        )
        counts = {"pictures_asked_for": done.tasks, "pictures_refused": done.refused}
        following = RunPosition(host_id=done.last) if done.looked_at == PER_STEP else None
        return StepResult(counts, following)

    return Orchestrator(
        "O-Images",
        "has pictures of products downloaded, of domains that MESSOR_IMAGE_DOMAINS names",
        "*/10 * * * *",
        step,
    )
