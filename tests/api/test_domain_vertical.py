"""The vertical of a domain as a field of submission and approval, over the API."""

from __future__ import annotations

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.governance.test_domain_vertical import apply

V = "/api/v1"


async def test_the_api_takes_a_vertical_with_submission_and_approval(
    as_role: AsRole, database: Database
) -> None:
    await apply(database, "community_resources", "funding")
    reviewer = await as_role(Role.REVIEWER)
    given = {"domain": "foodbank.org", "context": "State food bank", "vertical": "funding"}
    made = (await reviewer.post(f"{V}/domains", json=given)).json()
    assert made["domain"]["vertical"] == "funding"
    wrong = await reviewer.post(f"{V}/domains", json={"domain": "b.org", "vertical": "cooking"})
    assert "applied are community_resources, funding" in problem(wrong, 422, "usage")["detail"]
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 1
    shown = (await reviewer.get(f"{V}/domains/foodbank.org/vertical")).json()
    assert (shown["vertical"], shown["verticals"]) == ("funding", ["funding"])
    assert shown["guess"]["vertical"] == "community_resources"
    decide = f"{V}/domains/foodbank.org/decisions"
    approval = {"act": "approve", "vertical": "community_resources"}
    done = (await reviewer.post(decide, json=approval)).json()
    assert done["domain"]["vertical"] == "community_resources"
    assert "Its pages are judged for community_resources." in done["message"]
    listed = await reviewer.get(f"{V}/domains", params={"vertical": "community_resources"})
    assert [one["domain"] for one in listed.json()["items"]] == ["foodbank.org"]
    cleared = await reviewer.put(f"{V}/domains/foodbank.org/vertical", json={"vertical": None})
    assert (cleared.json()["vertical"], cleared.json()["verticals"]) == (None, [])


async def test_without_a_word_the_submitters_vertical_stays(
    as_role: AsRole, database: Database
) -> None:
    await apply(database, "community_resources")
    reviewer = await as_role(Role.REVIEWER)
    url = {"url": "https://foodbank.org/a", "submit": True, "vertical": "community_resources"}
    assert (await reviewer.post(f"{V}/urls", json=url)).json()["outcome"] == "remembered"
    decide = f"{V}/domains/foodbank.org/decisions"
    done = (await reviewer.post(decide, json={"act": "approve"})).json()
    assert done["domain"]["vertical"] == "community_resources"
    await reviewer.post(f"{V}/domains", json={"domain": "plain.org", "context": "A food bank"})
    done = (await reviewer.post(f"{V}/domains/plain.org/decisions", json={"act": "approve"})).json()
    assert "It has no vertical, so its pages are not flagged." in done["message"]
    assert "messor domains vertical plain.org community_resources" in done["message"]
    await reviewer.post(f"{V}/domains", json={"domain": "c.org", "vertical": "community_resources"})
    cleared = {"act": "approve", "vertical": ""}
    done = (await reviewer.post(f"{V}/domains/c.org/decisions", json=cleared)).json()
    assert done["domain"]["vertical"] is None
