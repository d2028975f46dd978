"""The bulk profiles under conditions: shared addresses, refusals, pauses, no validators, stalls."""

from __future__ import annotations

import pytest

from simweb import World
from simweb.conditions import RETRY_AFTER_S, Conditions

from .conftest import Serving


def test_hosts_share_as_many_addresses_as_told() -> None:
    world = World("chaos", hosts=9, pages=2, conditions=Conditions(addresses=3))
    assert len({site.address for site in world.sites}) == 3
    assert len({site.address for site in World("chaos", hosts=9, pages=2).sites}) == 9


def test_a_refusal_comes_once_and_says_how_long() -> None:
    world = World("chaos", hosts=4, pages=20, conditions=Conditions(refusing=True))
    refused = 0
    for site in world.sites:
        body = world.respond(site.host, "/sitemap-0.xml").body.decode()
        paths = [line.split("</loc>")[0] for line in body.split(f"<loc>{site.base}")[1:]]
        first = [world.respond(site.host, path) for path in paths]
        again = [world.respond(site.host, path) for path in paths]
        refusals = [answer for answer in first if answer.status == 429]
        assert {answer.header("Retry-After") for answer in refusals} <= {str(RETRY_AFTER_S)}
        assert len(refusals) <= 2
        assert {answer.status for answer in again} == {200}
        refused += len(refusals)
    assert refused > 0
    assert world.respond(world.sites[0].host, "/robots.txt").status == 200


@pytest.mark.parametrize("validators, status", [(True, 304), (False, 200)])
def test_without_validators_every_answer_is_whole(validators: bool, status: int) -> None:
    world = World("bench", hosts=1, pages=3, conditions=Conditions(validators=validators))
    first = world.respond("bench-000.test", "/")
    assert (first.header("ETag") is not None) is validators
    assert (first.header("Last-Modified") is not None) is validators
    known = {"if-none-match": first.header("ETag") or '"x"', "accept-encoding": "gzip"}
    assert world.respond("bench-000.test", "/", known).status == status


async def test_a_pause_comes_before_the_answer_and_not_the_stamp(serving: Serving) -> None:
    world = World("chaos", hosts=1, pages=6, conditions=Conditions(pause_ms=200))
    async with serving(world) as client:
        host = world.sites[0].host
        replies = [await client.get(host, path) for path in ("/", "/robots.txt", "/sitemap.xml")]
        logged = client.requests()
    assert {reply.status for reply in replies} == {200}
    assert max(asked.answered_ns - asked.arrived_ns for asked in logged) > 5_000_000
    assert [asked.path for asked in logged] == ["/", "/robots.txt", "/sitemap.xml"]


def test_a_stalling_host_gives_its_homepage_and_nothing_more() -> None:
    world = World("bench", hosts=1, pages=2, conditions=Conditions(stalling=2))
    silent, dripping = [site.host for site in world.sites if site.kind == "stalling"]
    assert {world.respond(host, "/").status for host in (silent, dripping)} == {200}
    assert {world.respond(host, "/robots.txt").status for host in (silent, dripping)} == {200}
    assert world.respond(silent, "/room/1").silent
    stream = world.respond(dripping, "/room/1").stream
    assert stream is not None
    assert (next(stream.chunks()), stream.pause_s) == (b" ", 5.0)


async def test_refusals_are_counted(serving: Serving) -> None:
    world = World("chaos", hosts=1, pages=20, conditions=Conditions(refusing=True))
    async with serving(world) as client:
        body = world.respond(world.sites[0].host, "/sitemap-0.xml").body.decode()
        for path in [part.split("</loc>")[0] for part in body.split(world.sites[0].base)[1:]]:
            await client.get(world.sites[0].host, path)
        refused = [asked for asked in client.requests() if asked.status == 429]
        assert client.server.counters()["refusals"] == len(refused) > 0
