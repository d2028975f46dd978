"""Serving: log, validators, keep-alive, TLS, jitter, the control door."""

import asyncio
import gzip
import itertools
import json
import time

import pytest

from simweb import World

from .conftest import Serving, head, read_reply

CLINIC = "harbour-dermatology.test"


async def test_a_page_comes_compressed_or_plain(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        packed = await client.get(CLINIC, accept_encoding="gzip, br")
        bare = await client.get(CLINIC)
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == bare.body
    assert b"Harbour Dermatology" in bare.body


async def test_head_has_the_length_and_no_body(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        got, asked = await client.get(CLINIC), await client.get(CLINIC, method="HEAD")
    assert asked.headers["content-length"] == got.headers["content-length"]


async def test_not_modified_by_tag_or_date(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        first = await client.get(CLINIC, "/about")
        tag, date = first.headers["etag"], first.headers["last-modified"]
        by_tag = await client.get(CLINIC, "/about", if_none_match=f'"other", W/{tag}')
        by_date = await client.get(CLINIC, "/about", if_modified_since=date)
        tag_wins = await client.get(
            CLINIC, "/about", if_none_match='"other"', if_modified_since=date
        )
        unreadable = await client.get(CLINIC, "/about", if_modified_since="yesterday")
    assert [by_tag.status, by_date.status] == [304, 304]
    assert [tag_wins.status, unreadable.status] == [200, 200]
    assert by_tag.headers["etag"] == tag


async def test_an_unchanged_page_stays_unmodified_in_the_next_epoch(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        first = await client.get(CLINIC, "/about")
        client.server.epoch = 4
        again = await client.get(CLINIC, "/about", if_none_match=first.headers["etag"])
    assert again.status == 304


async def test_the_log_tells_each_request_exactly(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        before = time.monotonic_ns()
        reader, writer = await client.connect(CLINIC)
        for path in ("/about", "/missing"):
            writer.write(head(CLINIC, path))
            reply = await read_reply(reader)
        port = writer.get_extra_info("sockname")[1]
        writer.close()
        await client.get("town-links.test", "/faq?x=1")
        after = time.monotonic_ns()
        about, missing, faq = client.requests()
    assert (about.host, about.path, about.status) == (CLINIC, "/about", 200)
    assert (missing.status, missing.body_bytes) == (404, len(reply.body))
    assert about.connection == missing.connection != faq.connection
    assert about.peer_port == missing.peer_port == port
    assert faq.url == "http://town-links.test/faq?x=1"
    times = [about.arrived_ns, about.answered_ns, missing.arrived_ns, missing.answered_ns]
    assert [before, *times, after] == sorted([before, *times, after])


async def test_pipelined_requests_are_answered_in_order(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect(CLINIC)
        writer.write(head(CLINIC, "/about") + head(CLINIC, "/nowhere"))
        statuses = [(await read_reply(reader)).status for _ in range(2)]
        writer.close()
    assert statuses == [200, 404]


async def test_what_is_no_request_is_refused(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect(CLINIC)
        writer.write(b"nonsense\r\n\r\n")
        assert (await read_reply(reader)).status == 400
        writer.close()
        assert (await client.get(CLINIC, method="DELETE")).status == 405


async def test_https_is_verified_and_http_leads_there(serving: Serving) -> None:
    pytest.importorskip("cryptography")
    async with serving(World("demo", tls=True)) as client:
        secure = await client.get("riverside-clinic.test", secure=True)
        bare = await client.get("riverside-clinic.test", "/faq")
        logged = client.requests()
    assert secure.status == 200
    assert (bare.status, bare.headers["location"]) == (301, "https://riverside-clinic.test/faq")
    assert [request.scheme for request in logged] == ["https", "http"]


async def test_jitter_delays_the_answer_not_the_stamp(serving: Serving) -> None:
    async with serving(World("chaos", hosts=8, pages=3), jitter_ms=300) as client:
        hosts = [site.host for site in client.server.world.sites]
        replies = await asyncio.gather(*(client.get(host) for host in hosts))
        logged = client.requests()
    assert {reply.status for reply in replies} == {200}
    waits_ms = [(r.answered_ns - r.arrived_ns) / 1e6 for r in logged]
    assert max(waits_ms) > 50, "somebody waited"
    logged.sort(key=lambda one: one.arrived_ns)
    met = [later.arrived_ns < one.answered_ns for one, later in itertools.pairwise(logged)]
    assert any(met), "they were seen as they came, not one after the other's answer"


async def test_control_sets_the_epoch_and_counts(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        await client.get(CLINIC)
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.control_port)
        writer.write(head("control", "/epoch/3", "POST"))
        counters = json.loads((await read_reply(reader)).body)
        writer.write(head("control", "/unknown", "POST"))
        unknown = await read_reply(reader)
        writer.close()
        assert client.server.epoch == 3
    assert (counters["epoch"], counters["requests"]) == (3, 1)
    assert unknown.status == 404
