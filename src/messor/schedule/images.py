"""O-Images: turns product images into tasks, where the operator wants them."""

from __future__ import annotations

from messor.frontier import images
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.settings import Settings
from messor.store.database import Connection

PER_STEP = 500


def imaging(settings: Settings) -> Orchestrator:
    """The orchestrator of an installation that downloads images of some domains."""
    names = [name.strip().lower() for name in settings.image_domains]

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        # The position is the last image processed.
        await images.follow(connection, PER_STEP)
        done = await images.add_tasks(
            connection,
            place.host_id,
            names,
            per_page=settings.images_per_page,
            max_hops=PER_STEP,
            max_moves=settings.max_redirects,
        )
        counts = {"pictures_asked_for": done.tasks, "pictures_refused": done.refused}
        following = RunPosition(host_id=done.last) if done.looked_at == PER_STEP else None
        return StepResult(counts, following)

    return Orchestrator(
        "O-Images",
        "downloads product images of the domains named by MESSOR_IMAGE_DOMAINS",
        "*/10 * * * *",
        step,
    )


def available(settings: Settings) -> list[Orchestrator]:
    return [imaging(settings)] if settings.image_domains else []
