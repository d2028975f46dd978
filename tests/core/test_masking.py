"""Secrets are hidden wherever they stand; all else stays as it was."""

from __future__ import annotations

import base64
import secrets
from typing import Any

import pytest

from messor.access.secret import new_token
from messor.core.masking import mask, mask_path, mask_text

S = "hunter2-HUNTER2-hunter2"
LOGIN = base64.b64encode(f"ada:{S}".encode()).decode()
KEY = "Ab3-" * 10 + "xyz"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://messor:{S}@db.example:5432/messor",
        f"postgresql://db.example/messor?user=a&password={S}&sslmode=require",
        f"amqp://guest:{S}@@rabbit.example//",
        f"https://{S}@git.example/x",
        f"https://search.example/?q=tea&api_key={S}",
        f"https://search.example/?key={S}#top",
        f"https://search.example/?APIKEY={S}&q=1",
        f"https://s3.example/x?X-Amz-Signature={S}",
        f"https://a.example/?access%5Ftoken={S}",
        f"https://a.example/#access_token={S}",
        f"Cannot connect to https://u:{S}@a.example/b (refused) and https://c.example/?token={S}.",
        f"host=db user=messor password={S} dbname=x",
        f"host=db password='{S} with spaces'",
        f"host=db password='it\\'s {S}' dbname=x",
        f"host=db password=a\\ {S} dbname=x",
        f"postgresql://db.example/messor?password=a;{S}&sslmode=require",
        f"postgresql://db.example/messor?sslpassword={S}",
        f"host=db sslpassword={S}",
        f"postgresql://messor:a/{S}@db.example/messor",
        f"https://a.example/?authToken={S}&clientSecret={S}&accessKey={S}",
        f'it answered {{"api_key": "{S}", "password":"a\\"{S}"}}',
        f"it answered {{'authToken': '{S}'}}",
        f"GET / HTTP/1.1\r\nAuthorization: Bearer {S}\r\nAccept: */*",
        f"{{'Cookie': 'session={S}; b={S}'}}",
        f"Set-Cookie: a={S}; Path=/",
        f"X-API-Key: {S}",
        f"curl said: Basic {LOGIN} was refused",
        f"curl said: Basic {LOGIN.rstrip('=')}.",
        f"headers=[('Authorization', 'Basic {S}')]",
        f"authorization=Bearer {S}",
        f"curl said: Bearer {S}.",
        f"secret whsec_{S} made",
        f"the key messor_0123456789ab_{KEY} is over",
        f"key_messor_0123456789ab_{KEY}",
    ],
)
def test_secrets_in_texts_are_hidden(text: str) -> None:
    shown = mask_text(text)
    assert not any(secret in shown for secret in (S, KEY, LOGIN.rstrip("=")))
    assert "…" in shown
    assert mask_text(shown) == shown


def test_a_key_as_it_is_made_is_hidden() -> None:
    key = f"messor_{secrets.token_hex(6)}_{new_token().reveal()}"
    assert mask_text(f"{key} was shown") == "messor_… was shown"


@pytest.mark.parametrize(
    "text",
    [
        "", "plain words", "https://a.example/path?q=tea&page=2&keyword=kettle#part",
        "socks5://user@proxy.example:1080", "ada@example.org", "3 = 4 and a: b", "It answered 500.",
        "Basic subscription: ended", "Basic Overview of fees", "basic authentication is not offered",
        "Bearer authentication is required.", "Basic HTTP/1.1", "the bearer certificate",
        "messor_http_fetches_2026_11", "messor_202611172230_before_upgrade.dump",
        "domain.approved", "the token was refused", "https://a.example/@ada/post",
        "http://a.example:8080/@ada", "http://[::1]:8080/@ada", "https://a.example/a:b/@ada",
        "https://a.example/?a=1;b=2;c", '{"max_tokens": "many", "keyword": "tea"}',
    ],
)  # fmt: skip
def test_all_else_stays(text: str) -> None:
    assert mask_text(text) == text


def test_fields_are_known_by_their_names() -> None:
    given: dict[str, Any] = {
        "proxy_password": S, "client-secret": S, "Authorization": S, "ai_key": S, "token": 7,
        "member": "01990000-0000-7000-8000-000000000000", "deep": [{"api_key": S, "n": None}],
        "token_id": "x", "url": f"https://a.example/?token={S}", "secret": "", "count": 3,
        "authToken": S, "sslpassword": S, "tokens": [S], "credentials": {"user": "ada", "pass": S},
        "signature": "01990000-0000-7000-8000-000000000000",
    }  # fmt: skip
    shown = mask(given)
    assert S not in str(shown)
    assert shown["token"] == 7
    assert shown["signature"] == given["signature"]
    assert (shown["token_id"], shown["secret"], shown["count"]) == ("x", "", 3)
    assert shown["url"] == "https://a.example/?token=…"


def test_of_a_webhook_only_the_origin_is_told() -> None:
    assert mask_path(f"https://u:p@hooks.example:8443/services/{S}?a=b") == "https://hooks.example:8443/…"  # fmt: skip
    assert mask_path("https://hooks.example/") == "https://hooks.example"
    assert mask_path(S) == "…"
