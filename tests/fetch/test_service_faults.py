"""When a service fails: every way is an outcome with a sentence, and the key stays secret."""

from __future__ import annotations

import asyncio
import logging
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from messor.errors import UsageError
from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import breaker as breakers
from messor.fetch.services import health
from messor.fetch.services.firecrawl import Firecrawl
from messor.fetch.services.options import ServiceSettings
from messor.store.database import Database
from simweb.services import Failure
from simweb.services.standin import Said
from tests.fetch.conftest import permit
from tests.fetch.service_bench import (
    HOME,
    KEY,
    Make,
    allow,
    bench,
    both,
    crawl4ai,
    firecrawl,
    saying,
)

OTHERS = (Failure.SILENT, Failure.OTHER_PAGE, Failure.NOBODY_ANSWERS, Failure.ERROR_BODY)
FAULTS = [failure for failure in Failure if failure not in OTHERS]


SENTENCES = {
    Failure.UNAUTHORIZED: "rejects our API key",
    Failure.NO_CREDITS: "has no credits left",
    Failure.FORBIDDEN: "rejects th",
    Failure.CONFLICT: "rejects the request (409)",
    Failure.REQUEST_TOO_LARGE: "rejects the request as too large",
    Failure.REJECTED: "rejects the request (400)",
    Failure.INVALID: "rejects the request (422)",
    Failure.TOO_MANY: "asks us to slow down",
    Failure.TOO_MANY_UNTIL: "asks us to slow down",
    Failure.BUSY: "failed with 503",
    Failure.INTERNAL: "failed with 500",
    Failure.BAD_GATEWAY: "failed with 502",
    Failure.GATEWAY_TIMEOUT: "failed with 504",
    Failure.REQUEST_TIMEOUT: "",
    Failure.CUT: "broke off",
    Failure.BAD_JSON: "does not match its API",
    Failure.DEEP_JSON: "does not match its API",
    Failure.NOT_JSON: "something other than JSON",
    Failure.HUGE: "sent more than 1000000 bytes",
    Failure.REDIRECT: "redirects: set its address",
    Failure.ONLY_MARKDOWN: "returned no HTML",
    Failure.NO_PAGE: " page",
}


@both
@pytest.mark.parametrize("failure", FAULTS)
async def test_a_fault_of_the_service_is_an_outcome(
    make: Make, failure: Failure, database: Database
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, max_answer_bytes=1_000_000) as it:
        standin.failure = failure
        used = permit()
        fetched = await it.get(allowed=used)
        if (kind, failure) == (Firecrawl, Failure.REQUEST_TIMEOUT):
            assert fetched.outcome is Outcome.TIMEOUT  # it says that the page was slow
        else:
            assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, PROVIDER_FAULT)
        assert SENTENCES[failure] in (fetched.error or "")
        assert fetched.body == b""
        assert fetched.retry_after is None  # the lane is not to blame
        assert used.used_at == fetched.sent_at > 0
        standin.failure = None
        it.clock.time += breakers.MAX_WAIT
        await database.fetch("DELETE FROM messor.provider_holds")
        assert (await it.get()).outcome is Outcome.OK


CHARGED = {  # the work may have been done: the reservation stands
    Failure.CUT,
    Failure.HUGE,
    Failure.BAD_JSON,
    Failure.DEEP_JSON,
    Failure.NOT_JSON,
    Failure.NO_PAGE,
    Failure.ONLY_MARKDOWN,
}


@pytest.mark.parametrize("failure", FAULTS)
async def test_what_was_not_charged_is_given_back(failure: Failure, database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database, max_answer_bytes=1_000_000) as it:
        standin.failure = failure
        fetched = await it.get()
        charged = Decimal("0.001") if failure in CHARGED else Decimal(0)
        assert fetched.cost == charged
        assert await it.usage() == (int(bool(charged)), charged)


async def test_an_answer_about_another_page_is_refused(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database) as it:
        standin.failure = Failure.OTHER_PAGE
        fetched = await it.get()
        assert fetched.error_type == PROVIDER_FAULT
        assert "another page" in (fetched.error or "")


@both
async def test_a_silent_service_is_not_waited_for(make: Make, database: Database) -> None:
    kind, standin = make()
    async with bench(kind, standin, database, timeout=0.05, grace=0.05) as it:
        standin.failure = Failure.SILENT
        fetched = await it.get()
        assert fetched.error_type == PROVIDER_FAULT
        assert "in time" in (fetched.error or "")


@both
async def test_a_service_that_is_not_there(make: Make, database: Database) -> None:
    kind, standin = make()
    async with bench(kind, standin, database) as it:
        await standin.stop()
        fetched = await it.get()
        assert fetched.error_type == PROVIDER_FAULT
        assert "cannot be reached" in (fetched.error or "")
        assert await it.usage() == (0, Decimal(0))


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "168.63.129.16"]
)
async def test_a_metadata_address_is_never_connected_to(database: Database, host: str) -> None:
    settings = ServiceSettings(f"http://{host}:8080", api_key=SecretStr(KEY))
    service = Firecrawl(settings, database, allow)
    try:
        fetched = await service.fetch(HOME, permit())
    finally:
        await service.close()
    assert "are never allowed" in (fetched.error or "")
    standing = await health.standing_of(f"http://{host}:8080", ("crawl",), None)
    assert "are never allowed" in standing.sentence


async def test_a_certificate_of_the_endpoint_is_verified(database: Database, tmp_path: Any) -> None:
    from simweb.certificates import Authority  # noqa: PLC0415 - needs cryptography

    context = Authority().context(["localhost"], tmp_path)
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    settings = ServiceSettings(f"https://localhost:{port}", api_key=SecretStr(KEY))
    service = Firecrawl(settings, database, allow)
    try:
        fetched = await service.fetch(HOME, permit())
        assert fetched.error_type == PROVIDER_FAULT
        assert "certificate" in (fetched.error or "")
    finally:
        await service.close()
        server.close()
        await server.wait_closed()


async def test_an_endpoint_with_an_authority_of_its_own_is_in_good_health(tmp_path: Any) -> None:
    from simweb.certificates import Authority  # noqa: PLC0415 - needs cryptography

    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"error": "messages"}, status=400)

    authority, ca_file = Authority(), tmp_path / "ca.pem"
    authority.write(ca_file)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", refuse)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    context = authority.context(["localhost"], tmp_path)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    address = f"https://localhost:{runner.addresses[0][1]}/v1"
    try:
        strange = await health.standing_of(address, health.MODEL_ROUTES, None)
        assert strange.sentence.startswith("cannot be reached: its certificate")
        assert (
            await health.standing_of(address, health.MODEL_ROUTES, None, ca_file=ca_file)
        ).is_good
    finally:
        await runner.cleanup()


async def test_the_key_is_shown_nowhere(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    kind, standin = firecrawl()
    standin.failures = {
        Failure.REJECTED: Said(400, {"error": f"bad token {KEY}"}),
        Failure.UNAUTHORIZED: Said(401, {"error": f"Invalid token {KEY}"}),
    }
    async with bench(kind, standin, database) as it:
        standin.failure = Failure.REJECTED
        bad = await it.get()
        standin.failure = Failure.UNAUTHORIZED
        refused = await it.get()
        again = await it.get()
        for fetched in (bad, refused, again):
            assert fetched.error_type == PROVIDER_FAULT
            assert KEY not in repr(fetched)
        settings = it.service._settings
        assert KEY not in repr(settings)
        assert KEY not in str(it.service.breaker.reason)
        assert "[key]" in (again.error or "")
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "values",
    [
        {"base_url": "ftp://firecrawl.test"},
        {"base_url": "firecrawl.test"},
        {"base_url": "http://user:hunter2@firecrawl.test"},
        {"base_url": "http://firecrawl.test/?key=hunter2"},
        {"base_url": "http://firecrawl.test", "api_key": SecretStr("hunter2\r\nX-Evil: 1")},
        {"base_url": "http://firecrawl.test", "cost": Decimal(-1)},
        {"base_url": "http://firecrawl.test", "timeout": 0},
    ],
)
def test_settings_that_cannot_be_meant(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        ServiceSettings(**values)
    assert "hunter2" not in str(caught.value)


ODD_ANSWERS: list[Any] = [
    [],
    None,
    "text",
    {"success": "yes"},
    {"success": True, "data": []},
    {"success": True, "data": {"html": 7}},
    {"success": True, "data": {"metadata": []}},
    {"success": True, "results": {}},
    {"success": True, "results": [None]},
    {"success": True, "results": [{"url": HOME, "success": True, "status_code": "200"}]},
    {"success": True, "results": [{"url": HOME, "success": True, "html": ["x"]}]},
    {"success": False},
    {"success": False, "error": {"message": "a\nb\x00\x1b[31m" * 500}},
]


@both
@pytest.mark.parametrize("status", [200, 500])
async def test_an_odd_answer_is_a_fault_with_a_plain_sentence(
    make: Make, status: int, database: Database
) -> None:
    kind, standin = make()
    async with bench(kind, standin, database) as it:
        for value in ODD_ANSWERS:
            saying(standin, value, status)
            fetched = await it.get()
            assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, PROVIDER_FAULT), value
            assert fetched.error
            assert "paused" not in fetched.error
            assert fetched.error.isprintable()
            assert len(fetched.error) < 400
            it.clock.time += breakers.MAX_WAIT
