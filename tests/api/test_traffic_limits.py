"""The limits on all sites together through the API: by admins, refused with a sentence, shown to all."""

from __future__ import annotations

from messor.access.roles import Role
from tests.api.conftest import AsRole

LIMITS = "/api/v1/traffic/limits"


async def test_limits_are_set_by_admins_and_seen_by_all(as_role: AsRole) -> None:
    admin, viewer = await as_role(Role.ADMIN), await as_role(Role.VIEWER)
    given = {"crawl_hours": "20-07", "time_zone": "Europe/Berlin", "megabytes_per_day": 900}
    assert (await viewer.put(LIMITS, json=given)).status_code == 403
    wrong = await admin.put(LIMITS, json={"crawl_hours": "20"})
    assert (wrong.status_code, "two hours of the day" in wrong.text) == (422, True)
    assert (await admin.put(LIMITS, json=given)).status_code == 200
    shown = (await viewer.get("/api/v1/traffic")).json()["limits"]
    assert (shown["crawl_hours"], shown["megabytes_per_day"]) == ("20-7", 900)
    assert (await admin.put(LIMITS, json={})).json()["limits"] is None
