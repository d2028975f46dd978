"""`messor identity`: show, rotate, export; what it says while it is off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from messor.fetch.identity import publication
from tests.cli.conftest import Messor

BOT = "https://bot.example"


@pytest.fixture
def signing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESSOR_IDENTITY_URL", BOT)
    monkeypatch.setenv("MESSOR_CONTACT", "mailto:bot@example.org")
    monkeypatch.setenv("MESSOR_IDENTITY_RANGES", '["203.0.113.0/28", "2001:db8::/48"]')


def test_off_says_how_to_switch_it_on(messor: Messor) -> None:
    shown = messor("identity", "show")
    assert "MESSOR_IDENTITY_URL" in shown.err
    refused = messor("identity", "rotate")
    assert refused.code == 2
    assert "MESSOR_IDENTITY_URL" in refused.err
    (check,) = [one for one in messor("doctor", "--json").json
                if one["name"] == "identity"]  # fmt: skip
    assert check["state"] == "note"
    assert "MESSOR_IDENTITY_URL" in check["mend"]


@pytest.mark.usefixtures("signing")
def test_a_key_is_shown_and_rotated(messor: Messor) -> None:
    first = messor("identity", "show", "--json").json
    assert first["directory"] == BOT + publication.DIRECTORY
    (key,) = first["keys"]
    assert key["is_active"]
    rotated = messor("identity", "rotate", "--json").json
    assert [each["is_active"] for each in rotated] == [False, True]
    again = messor("identity", "rotate")
    assert again.code == 5
    assert "signs from" in again.err
    withdrawn = messor("identity", "rotate", "--now", "--json").json
    assert [each["is_published"] for each in withdrawn] == [True, False, False]


@pytest.mark.usefixtures("signing")
def test_what_is_published_can_be_written_as_files(messor: Messor, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    messor("identity", "export", "-o", str(folder))
    keys = json.loads((folder / publication.DIRECTORY.lstrip("/")).read_text())["keys"]
    assert {name: keys[0][name] for name in ("kty", "crv", "use")} == {
        "kty": "OKP",
        "crv": "Ed25519",
        "use": "sig",
    }
    card = json.loads((folder / publication.CARD.lstrip("/")).read_text())
    assert card["client_id"] == BOT + publication.CARD
    assert card["jwks_uri"] == BOT + publication.DIRECTORY
    assert "jwks" not in card
    assert card["web_bot_auth"]["rfc9309-product-token"] == "MessorBot"
    ranges = json.loads((folder / "bot/ranges.json").read_text())
    assert ranges["prefixes"] == [{"ipv4Prefix": "203.0.113.0/28"}, {"ipv6Prefix": "2001:db8::/48"}]
    page = (folder / "bot/index.html").read_text()
    assert "mailto:bot@example.org" in page
    assert 'rel="client-ranges"' in page
    headers = (folder / "_headers").read_text()
    assert f"{publication.DIRECTORY}\n  Content-Type: {publication.DIRECTORY_TYPE}" in headers


@pytest.mark.usefixtures("signing")
def test_a_folder_that_cannot_be_written_is_one_sentence(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = messor("identity", "export", "-o", str(tmp_path / "file" / "x"))
    assert refused.code != 0
    assert "Traceback" not in refused.err
