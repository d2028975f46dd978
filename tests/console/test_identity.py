"""The bot page and the key directory, as a verifier and a person see them."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from pathlib import Path

import pytest

from messor.fetch.identity import keys, publication
from messor.fetch.identity.message_signatures import BadSignatureError, HttpMessage, verify
from messor.fetch.proxies.seal import seal_for
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Enter, Serve
from tests.crawling import TESTER

BOT = "https://bot.example"
TAG = "http-message-signatures-directory"


def settings(folder: Path) -> Settings:
    return Settings(data_dir=folder, identity_url=BOT, contact="mailto:bot@example.org")


async def test_the_directory_is_signed_by_every_key_in_it(
    serve: Serve, enter: Enter, database: Database, tmp_path: Path
) -> None:
    given = settings(tmp_path)
    visitor = await enter(await serve(given))
    await visitor.get(publication.DIRECTORY)
    async with database.transaction() as connection:
        await keys.rotate(connection, seal_for(given), actor=TESTER)
    answer = await visitor.get(publication.DIRECTORY)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == publication.DIRECTORY_TYPE
    assert answer.headers["Cache-Control"] == "max-age=3600"
    names = {key["kid"] for key in json.loads(answer.text)["keys"]}
    public = {key.thumbprint: key.public for key in await keys.published(database)}
    assert names == set(public)
    assert len(names) == 2
    digest = base64.b64encode(hashlib.sha256(answer.text.encode()).digest()).decode()
    assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"
    headers = {name.lower(): value for name, value in answer.headers.items()}
    response = HttpMessage(
        status=200, headers=headers, request=HttpMessage(f"{BOT}{publication.DIRECTORY}")
    )
    for name in names:
        assert verify(response, {name: public[name]}, tag=TAG, now=int(time.time())) == name
    stolen = HttpMessage(status=200, headers=headers, request=HttpMessage("https://thief.example/"))
    with pytest.raises(BadSignatureError):
        verify(stolen, public, tag=TAG, now=int(time.time()))


async def test_the_bot_page_says_who_why_and_how_to_stop(
    serve: Serve, enter: Enter, tmp_path: Path
) -> None:
    visitor = await enter(await serve(settings(tmp_path)))
    answer = await visitor.get(publication.PAGE)
    assert answer.status == 200
    for part in ("MessorBot", "bot@example.org", "search, tdm", "Disallow: /"):
        assert part in answer.said
    assert 'rel="client-ranges"' in answer.headers["Link"]
    assert json.loads((await visitor.get(publication.RANGES)).text) == {"prefixes": []}
    card = json.loads((await visitor.get(publication.CARD)).text)
    assert card["contacts"] == ["mailto:bot@example.org"]


async def test_without_a_public_address_there_are_no_such_pages(serve: Serve, enter: Enter) -> None:
    visitor = await enter(await serve())
    for path in (publication.DIRECTORY, publication.CARD, publication.RANGES, publication.PAGE):
        assert (await visitor.get(path)).status == 404
