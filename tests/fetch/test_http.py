"""HTTP on real sockets: every answer becomes a typed outcome, within limits."""

from __future__ import annotations

import asyncio
import gzip
import resource
import zlib
from collections.abc import Iterator
from datetime import timedelta

import psutil
import pytest

from messor.errors import LeaseLostError
from messor.fetch.outcome import Outcome
from messor.fetch.wire import digest_of
from simweb import certificates
from simweb.answers import Ending, Request, SimResponse, Stream, plain, redirect
from simweb.documents import HTML
from tests.crawling import until
from tests.fetch.conftest import Going, permit
from tests.little_web import page

GOOD = page("Good")
_HTML = (("Content-Type", HTML),)


def encoded(body: bytes, encoding: str) -> SimResponse:
    return SimResponse(200, (*_HTML, ("Content-Encoding", encoding)), body)


def streamed(*parts: bytes) -> SimResponse:
    return SimResponse(200, _HTML, stream=Stream(lambda: iter(parts)))


@pytest.mark.parametrize(
    "answer, outcome",
    [
        (GOOD, Outcome.OK),
        (SimResponse(304), Outcome.UNCHANGED),
        (redirect("/else"), Outcome.REDIRECTED),
        (redirect("/else", 308), Outcome.REDIRECTED),
        (plain(404, "gone"), Outcome.NOT_FOUND),
        (plain(410, "gone"), Outcome.NOT_FOUND),
        (plain(401, "no"), Outcome.BLOCKED),
        (plain(403, "no"), Outcome.BLOCKED),
        (plain(429, "slow"), Outcome.BLOCKED),
        (plain(503, "later"), Outcome.BLOCKED),
        (plain(400, "no"), Outcome.ERROR),
        (plain(500, "broken"), Outcome.ERROR),
        (plain(200, "text"), Outcome.OK),
        (SimResponse(200, _HTML, b" \n "), Outcome.EMPTY),
        (SimResponse(200, _HTML), Outcome.EMPTY),
        (SimResponse(200, (), b"<!DOCTYPE html><p>untyped"), Outcome.OK),
        (SimResponse(200, (), b"%PDF-1.7"), Outcome.OK),
        (SimResponse(200, (("Content-Type", "application/json"),), b"{}"), Outcome.NOT_HTML),
    ],
    ids=lambda value: str(getattr(value, "status", value)),
)
async def test_each_answer_has_its_outcome(
    going_out: Going, answer: SimResponse, outcome: Outcome
) -> None:
    async with going_out({"/": answer}) as out:
        fetched = await out.get()
    assert (fetched.outcome, fetched.status) == (outcome, answer.status)
    assert fetched.sent_at > 0


async def test_a_redirect_is_reported_and_not_followed(going_out: Going) -> None:
    async with going_out({"/": redirect("/target"), "/target": GOOD}) as out:
        fetched = await out.get()
        assert fetched.location == "/target"
        assert out.web.paths("one.test") == ["/"]


@pytest.mark.parametrize(
    "body, encoding",
    [
        (GOOD.body, ""),
        (GOOD.body, "identity"),
        (gzip.compress(GOOD.body), "gzip"),
        (gzip.compress(GOOD.body), "X-GZip"),
        (zlib.compress(GOOD.body), "deflate"),
        (zlib.compress(GOOD.body, wbits=-15), "deflate"),
        (gzip.compress(GOOD.body[:99]) + gzip.compress(GOOD.body[99:]), "gzip"),
        (gzip.compress(GOOD.body) + b"\0\0\0", "gzip"),
    ],
    ids=["none", "identity", "gzip", "x-gzip", "zlib", "raw-deflate", "members", "padded"],
)
async def test_encodings_are_undone_and_the_wire_kept(
    going_out: Going, body: bytes, encoding: str
) -> None:
    async with going_out({"/": encoded(body, encoding)}) as out:
        fetched = await out.get()
    assert (fetched.outcome, fetched.body, fetched.wire) == (Outcome.OK, GOOD.body, body)
    assert fetched.wire_digest == digest_of(body)


@pytest.mark.parametrize(
    "body, encoding",
    [
        (b"not gzip at all", "gzip"),
        (gzip.compress(GOOD.body)[:-30], "gzip"),
        (GOOD.body, "br"),
        (gzip.compress(gzip.compress(GOOD.body)), "gzip, gzip"),
    ],
    ids=["false", "torn", "unasked", "twice"],
)
async def test_a_body_that_cannot_be_unpacked_is_an_error(
    going_out: Going, body: bytes, encoding: str
) -> None:
    async with going_out({"/": encoded(body, encoding)}) as out:
        fetched = await out.get()
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "bad_encoding")


@pytest.mark.parametrize(
    "answer",
    [
        SimResponse(200, _HTML, b"x" * 5_000),
        streamed(b"x" * 5_000),
        streamed(*[b"x" * 100] * 50),
        SimResponse(200, _HTML, claimed_length=10**15),
    ],
    ids=["length", "one-chunk", "chunks", "absurd-length"],
)
async def test_a_body_over_the_cap_is_cut_off(going_out: Going, answer: SimResponse) -> None:
    async with going_out({"/": answer}, max_body_bytes=1_000) as out:
        assert (await out.get()).outcome is Outcome.TOO_LARGE


async def test_a_body_of_just_the_cap_passes(going_out: Going) -> None:
    async with going_out({"/": SimResponse(200, _HTML, b"x" * 1_000)}, max_body_bytes=1_000) as out:
        assert (await out.get()).outcome is Outcome.OK


async def test_an_endless_body_ends_at_the_cap(going_out: Going) -> None:
    def flood() -> Iterator[bytes]:
        while True:
            yield b"x" * 60_000

    endless = SimResponse(200, _HTML, stream=Stream(flood))
    async with going_out({"/": endless}, max_body_bytes=1_000_000) as out:
        fetched = await out.get()
        assert fetched.outcome is Outcome.TOO_LARGE
        await until(out.web.requests)  # it is noted when the connection ends
        (asked,) = out.web.requests()
        assert asked.body_bytes < 8_000_000  # the cap and what lay in buffers on the way


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_stops_at_the_decoded_cap(going_out: Going, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bomb = encoded(pack(b" " * 60_000_000, 1), encoding)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with going_out({"/": bomb}) as out:
        fetched = await out.get()
    assert fetched.outcome is Outcome.TOO_LARGE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000


async def test_a_body_of_countless_empty_members_does_not_stall_us(going_out: Going) -> None:
    """Each member is unpacked from a copy of what is left: quadratic, unless bounded."""
    members = gzip.compress(b"") * 100_000
    async with going_out({"/": encoded(members, "gzip")}) as out:
        fetched = await out.get()
    # Unpacked to the end it would be empty.
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "bad_encoding")


@pytest.mark.parametrize(
    "extra",
    [
        tuple((f"X-{n}", "v") for n in range(10_000)),
        (("X-Long", "v" * 1_000_000),),
        tuple((f"Set-Cookie{n}", "c" * 4_000) for n in range(300)),
    ],
    ids=["many", "long", "both"],
)
async def test_headers_out_of_measure_are_refused(
    going_out: Going, extra: tuple[tuple[str, str], ...]
) -> None:
    async with going_out({"/": page("Talkative", extra=extra)}) as out:
        fetched = await out.get()
        before = psutil.Process().memory_info().rss
        for _ in range(40):
            await out.get()
        assert psutil.Process().memory_info().rss - before <= 24 * 1024 * 1024
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "protocol")
    assert len(fetched.error or "") <= 200


def drops() -> Iterator[bytes]:
    return (b"x" for _ in range(1_000))


@pytest.mark.parametrize(
    "answer",
    [SimResponse(200, silent=True), SimResponse(200, _HTML, stream=Stream(drops, 0.05))],
    ids=["stall", "slowloris"],
)
async def test_the_total_time_is_bounded(going_out: Going, answer: SimResponse) -> None:
    async with going_out({"/": answer}, total_timeout=0.3) as out:
        fetched = await out.get()
        assert (fetched.outcome, fetched.error_type) == (Outcome.TIMEOUT, "timeout")


@pytest.mark.parametrize(
    "answer",
    [
        SimResponse(200, _HTML, b"x" * 500, claimed_length=1_000, ending=Ending.CLOSE),
        SimResponse(200, _HTML, b"x" * 500, claimed_length=1_000, ending=Ending.RESET),
    ],
    ids=["short", "reset"],
)
async def test_a_body_that_ends_early_is_never_a_good_one(
    going_out: Going, answer: SimResponse
) -> None:
    async with going_out({"/": answer}) as out:
        fetched = await out.get()
    assert fetched.outcome is Outcome.ERROR
    assert fetched.error_type == "truncated"
    assert fetched.body == b""


async def test_a_server_that_hangs_up_is_an_error(going_out: Going) -> None:
    async with going_out({"/": SimResponse(200, silent=True)}) as out:
        asking = asyncio.create_task(out.get())
        await until(lambda: any(wire.open for wire in out.web.server._wires))
        await asyncio.sleep(0.05)
        for wire in out.web.server._wires:
            for connection in list(wire.open):
                connection.abort()
        assert (await asking).outcome is Outcome.ERROR


async def test_a_kept_connection_that_dies_costs_one_attempt_and_no_second_request(
    going_out: Going,
) -> None:
    """The library would send the request again by itself; one permit is one request."""

    def dying(_: Request) -> SimResponse:
        for wire in out.web.server._wires:
            for connection in list(wire.open):
                connection.abort()
        return GOOD

    async with going_out({"/": GOOD, "/dying": dying}) as out:
        assert (await out.get("/")).outcome is Outcome.OK
        fetched = await out.get("/dying")
        assert fetched.outcome is Outcome.ERROR
        assert out.web.paths("one.test").count("/dying") == 1


async def test_validators_are_sent(going_out: Going) -> None:
    def conditional(request: Request) -> SimResponse:
        known = (request.headers.get("if-none-match"), request.headers.get("if-modified-since"))
        return SimResponse(304) if known == ('"a"', "Mon, 05 Jan 2026 06:00:00 GMT") else GOOD

    async with going_out({"/": conditional}) as out:
        dated = "Mon, 05 Jan 2026 06:00:00 GMT"
        assert (await out.get(etag='"a"', last_modified=dated)).outcome is Outcome.UNCHANGED
        assert (await out.get()).outcome is Outcome.OK


async def test_known_bytes_are_not_unpacked(going_out: Going) -> None:
    packed = gzip.compress(GOOD.body)
    zipped = SimResponse(200, (*GOOD.headers, ("Content-Encoding", "gzip")), packed)
    told = SimResponse(200, (*zipped.headers, ("X-Robots-Tag", "noindex")), packed)
    async with going_out({"/": zipped, "/told": told, "/other": GOOD}) as out:
        first = await out.get()
        assert (first.is_known, first.body, first.size) == (False, GOOD.body, len(GOOD.body))
        again = await out.get(wire_tag=first.wire_tag)
        assert (again.is_known, again.body, again.size) == (True, b"", len(GOOD.body))
        assert again.outcome is Outcome.OK
        # A header may say more about the same bytes than it did before.
        assert (await out.get("/told", wire_tag=first.wire_tag)).body == GOOD.body
        assert not (await out.get("/other", wire_tag=first.wire_tag)).is_known


@pytest.mark.parametrize("etag", ['"a"\r\nX-Evil: 1', '"a\x00"', '"\udcff"', "ü"])
async def test_a_hostile_validator_never_raises(going_out: Going, etag: str) -> None:
    seen: list[Request] = []

    def note(request: Request) -> SimResponse:
        seen.append(request)
        return GOOD

    async with going_out({"/": note}) as out:
        await out.get(etag=etag)
    assert not any("x-evil" in request.headers for request in seen)


async def test_no_cookie_comes_back(going_out: Going) -> None:
    cookies: list[str | None] = []

    def room(request: Request) -> SimResponse:
        cookies.append(request.headers.get("cookie"))
        return page("Cookies", extra=(("Set-Cookie", "session=1; Path=/"),))

    async with going_out({"/": room}) as out:
        await out.get()
        await out.get()
    assert cookies == [None, None]


async def test_we_say_who_we_are(going_out: Going) -> None:
    agents: list[str | None] = []

    def room(request: Request) -> SimResponse:
        agents.append(request.headers.get("user-agent"))
        return GOOD

    async with going_out({"/": room}) as out:
        await out.get()
    assert agents == ["Mozilla/5.0 (compatible; MessorBot/1; +https://example.invalid/tests)"]


@pytest.mark.parametrize(
    "href",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433/",
        "http://[::1]/",
        "http://one.test:22/",
        "file:///etc/passwd",
        "gopher://one.test/",
    ],
)
async def test_refused_addresses_are_never_asked(going_out: Going, href: str) -> None:
    closed: dict[str, object] = {"addresses": [], "ports": [], "names": {}}
    async with going_out({"/": GOOD}, allowed_networks=closed) as out:
        fetched = await out.get(href)
        assert fetched.outcome is Outcome.REFUSED_ADDRESS
        assert fetched.sent_at == 0
        assert out.web.requests() == []


async def test_an_allowed_name_on_a_closed_address_is_refused_at_the_socket(
    going_out: Going,
) -> None:
    """The last gate: whatever a resolver says, the socket's own address is judged."""
    async with going_out({"/": GOOD}) as out:
        out.fetcher.guard._networks.clear()
        fetched = await out.get()
        assert fetched.outcome is Outcome.REFUSED_ADDRESS
        assert "127.0." in (fetched.error or "")
        assert out.web.requests() == []


async def test_a_name_that_does_not_exist_is_an_error(going_out: Going) -> None:
    async with going_out({"/": GOOD}, connect_timeout=1.0, total_timeout=1.0) as out:
        fetched = await out.get("http://no-such-host.invalid/")
    assert fetched.outcome in (Outcome.ERROR, Outcome.TIMEOUT)
    assert fetched.sent_at == 0


async def test_tls_with_the_worlds_authority(going_out: Going) -> None:
    async with going_out({"/": GOOD}, tls=True) as out:
        assert (await out.get("https://one.test/")).outcome is Outcome.OK


async def test_tls_without_it_fails_closed(going_out: Going) -> None:
    async with going_out({"/": GOOD}, tls=True, ca_file=None) as out:
        fetched = await out.get("https://one.test/")
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "tls")
        assert out.web.requests() == []


async def test_tls_that_has_run_out_fails_closed_unless_the_terms_say_otherwise(
    going_out: Going, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "_LIFETIME", timedelta(minutes=-5))
    async with going_out({"/": GOOD}, tls=True) as out:
        fetched = await out.get("https://one.test/")
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "tls")
        assert "expired" in (fetched.error or "")
        assert out.web.requests() == []
        assert (await out.get("https://one.test/", verify=False)).outcome is Outcome.OK


async def test_tls_for_another_name_fails_closed(going_out: Going) -> None:
    async with going_out({"/": GOOD}, tls=True) as out:
        names = out.fetcher.guard.names
        names["other.test:443"] = names["one.test:443"]
        fetched = await out.get("https://other.test/")
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "tls")


@pytest.mark.parametrize(
    "value",
    [
        "Wed, 21 Oct 2015 07:28:00 +99999999999999999999",
        "Wed, 99 Oct 99999 07:28:00 GMT",
        "Wed, 21 Oct 0000 07:28:00 GMT",
        "-5",
        "1e9",
        "9" * 400,
        "\xff\xfe",
    ],
)
async def test_a_hostile_retry_after_never_raises(going_out: Going, value: str) -> None:
    async with going_out({"/": plain(429, "slow", ("Retry-After", value))}) as out:
        fetched = await out.get()
    assert fetched.outcome is Outcome.BLOCKED
    assert fetched.retry_after is None or 0 <= fetched.retry_after <= 7 * 86_400


async def test_a_lease_that_ran_out_sends_nothing(going_out: Going) -> None:
    late = permit()
    late._pace.lease.deadline = 0.0
    async with going_out({"/": GOOD}) as out:
        with pytest.raises(LeaseLostError):
            await out.fetcher.fetch("http://one.test/", late)
        assert out.web.requests() == []
