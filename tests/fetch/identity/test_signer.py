"""One signature serves an authority for a minute; challenges and prices are signed for themselves."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from messor.fetch.identity.message_signatures import HttpMessage, inputs_of, verify
from messor.fetch.identity.signer import LIFETIME_SECONDS, RequestKey, RequestSigner, Signature
from messor.web.urls import Url, parse

AGENT = "https://bot.example"
PRIVATE = Ed25519PrivateKey.generate()
KEY = RequestKey.of(7, PRIVATE)
PUBLIC = {KEY.name: PRIVATE.public_key().public_bytes_raw()}


class Time:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def url(text: str) -> Url:
    found = parse(text)
    assert found is not None
    return found


def signer(time: Time) -> RequestSigner:
    made = RequestSigner(AGENT, clock=time)
    made.use(KEY)
    return made


def held(where: str, made: Signature | None, time: Time, **more: str) -> dict[str, object]:
    """The parameters of a signature, which must be valid at this URL now."""
    assert made is not None
    headers = {name.lower(): value for name, value in made.fields} | more
    verify(HttpMessage(where, headers), PUBLIC, tag="web-bot-auth", now=int(time.now))
    (covered,) = inputs_of(headers["signature-input"]).values()
    return {"covered": [str(each) for each in covered.components], **covered.params}


def test_a_signature_says_who_signs_for_which_authority_and_how_long() -> None:
    time = Time()
    made = signer(time).sign(url("https://shop.example/a?b=c"))
    said = held("https://shop.example/other", made, time)
    assert said["covered"] == ['"@authority"', '"signature-agent";key="sig1"']
    assert said["expires"] == said["created"] + LIFETIME_SECONDS  # type: ignore[operator]
    assert (said["keyid"], said["tag"]) == (KEY.name, "web-bot-auth")
    assert made is not None
    assert made.key == 7
    assert ("Signature-Agent", f'sig1="{AGENT}"') in made.fields


def test_a_signature_is_used_for_a_minute_and_for_one_authority() -> None:
    time = Time()
    by = signer(time)
    first = by.sign(url("https://shop.example/a"))
    time.now += 59.9
    assert by.sign(url("https://shop.example/b")) is first
    assert by.sign(url("https://shop.example:8443/b")) is not first
    time.now += 0.1
    assert by.sign(url("https://shop.example/b")) is not first
    time.now -= 3600  # the clock was set back
    second = by.sign(url("https://shop.example/b"))
    held("https://shop.example/b", second, time)


def test_another_key_signs_from_its_first_request_on() -> None:
    time = Time()
    by = signer(time)
    by.sign(url("https://shop.example/a"))
    other = RequestKey.of(8, Ed25519PrivateKey.generate())
    by.use(other)
    made = by.sign(url("https://shop.example/a"))
    assert made is not None
    assert made.key == 8
    by.use(None)
    assert by.sign(url("https://shop.example/a")) is None


def test_a_challenge_is_met_from_then_on() -> None:
    time = Time()
    by = signer(time)
    where = url("https://shop.example/a")
    asked = {"Accept-Signature": 'ours=("@authority" "user-agent");tag="web-bot-auth"'}
    assert by.challenged(where, 403, asked)
    made = by.sign(where, {"User-Agent": "Bot/1"})
    said = held(where.href, made, time, **{"user-agent": "Bot/1"})
    assert said["covered"] == ['"@authority"', '"user-agent"', '"signature-agent";key="ours"']
    assert not by.challenged(where, 403, asked), "the same challenge again was not met by it"


def test_a_nonce_is_signed_and_each_url_by_itself_where_asked() -> None:
    time = Time()
    by = signer(time)
    where = url("https://shop.example/a")
    asked = {"Accept-Signature": 'sig=("@method" "@path" "@authority");nonce="n1";keyid="any"'}
    assert by.challenged(where, 429, asked)
    assert held(where.href, by.sign(where), time)["nonce"] == "n1"
    assert by.challenged(where, 429, {"Accept-Signature": asked["Accept-Signature"] + ";x"})
    for path in ("/a", "/b"):
        place = url(f"https://shop.example{path}")
        held(place.href, by.sign(place), time)
    time.now += 100_000
    assert "nonce" not in held(where.href, by.sign(where), time), "a challenge lasts a day"


@pytest.mark.parametrize(
    "status, asked",
    [
        (200, 'sig=("@authority")'),
        (401, 'sig=("@authority")'),
        (403, "no dictionary ("),
        (403, 'sig=("@authority");alg="rsa-pss-sha512"'),
        (403, 'sig=("@authority");tag="other"'),
        (403, 'sig=("cookie")'),
        (403, 'sig=("@status")'),
        (403, 'sig=("@authority";req)'),
        (403, 'sig=("@query-param";name="a")'),
        (403, "sig=1"),
    ],
)
def test_what_cannot_be_met_is_not_answered(status: int, asked: str) -> None:
    by = signer(Time())
    assert not by.challenged(url("https://shop.example/"), status, {"Accept-Signature": asked})


def test_a_price_is_covered_and_never_reused() -> None:
    time = Time()
    by = signer(time)
    where = url("https://shop.example/a")
    price = (("crawler-max-price", "USD 0.01"),)
    made = by.sign(where, {}, price)
    said = held(where.href, made, time, **{"crawler-max-price": "USD 0.01"})
    assert '"crawler-max-price"' in said["covered"]  # type: ignore[operator]
    assert by.sign(where, {}, price) is not made
    plain = by.sign(where)
    assert plain is not None
    assert "crawler" not in dict(plain.fields)["Signature-Input"]
