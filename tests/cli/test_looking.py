"""The commands one looks around with, and the ways a crawl can bring nothing."""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from messor.fetch.services import holds
from messor.parsers import registry
from messor.parsers.builtin import ProductParser
from messor.parsers.page_reading import installed_parsers
from messor.store.database import Database
from simweb import WorldProcess
from simweb.engines import SearchIndex
from simweb.engines.google import SerperStandIn
from simweb.engines.standin import KEY
from simweb.services import Crawl4AIStandIn, FirecrawlStandIn, Rendered
from simweb.services.model import ModelStandIn
from simweb.world import World
from tests.cli.conftest import Messor
from tests.standing_in import serving


async def no_browser(href: str) -> Rendered:
    return Rendered(href, error="net::ERR_ABORTED")


def open_world(monkeypatch: pytest.MonkeyPatch, world: WorldProcess) -> None:
    for name, value in world.settings_env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MESSOR_DEFAULT_DELAY", "0")
    monkeypatch.setenv("MESSOR_TOTAL_TIMEOUT", "3")


def test_reviews_leave_their_reasons(messor: Messor) -> None:
    for name in ("one.example", "two.example", "three.example"):
        assert messor("domains", "submit", name).code == 0
    assert messor("domains", "reject", "one.example", "--reason", "off topic").code == 0
    assert messor("domains", "blacklist", "two.example", "--reason", "malware").code == 0
    assert messor("domains", "approve", "three.example").code == 0
    assert messor("domains", "suspend", "three.example", "--json").json["status"] == "suspended"
    assert messor("domains", "approve", "two.example").code == 5
    assert messor("domains", "reject", "three.example").code == 2  # a reason is required
    said = messor("events", "--sort", "committed", "--json").out.splitlines()
    decided = ["domain.rejected", "domain.blacklisted", "domain.approved", "domain.suspended"]
    types = [json.loads(line)["type"] for line in said]
    assert [name for name in types if name in decided] == decided
    assert "off topic" in messor("events").out


def test_a_url_alone_is_a_crawl_and_pages_tell_what_came(
    messor: Messor, demo_world: WorldProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_world(monkeypatch, demo_world)
    said = messor("http://town-links.test/", "--depth", "1", "--json", "-o", "crawl.json")
    assert said.code == 0, said.err
    assert said.out == ""
    outcomes = json.loads((tmp_path / "crawl.json").read_text())["outcomes"]
    pages = messor("pages", "town-links.test", "--outcome", "ok", "--json").json
    assert len([page for page in pages if page["kind"] == "page"]) == outcomes["ok"] > 0
    assert all(page["word_count"] > 0 for page in pages if page["kind"] == "page")
    assert "http://town-links.test/" in messor("pages", "town-links.test").out
    assert {page["provider"] for page in pages} == {"http"}
    contacts = messor("pages", "town-links.test", "--category", "contact", "--json").json
    assert contacts
    assert {page["category"] for page in contacts} == {"contact"}
    assert messor("pages", "town-links.test", "--category", "nonsense").code == 2
    again = messor("crawl", "town-links.test", "--json")
    assert again.code == 0, again.err


@pytest.mark.parametrize(
    "url, word",
    [
        ("http://no-such-name.test/", "the name no-such-name.test does not resolve"),
        ("http://town-links.test:22/", "port 22"),
        ("http://robots-500.test/", "robots.txt"),
    ],
)
def test_a_crawl_that_brings_nothing_says_why(
    messor: Messor,
    demo_world: WorldProcess,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    word: str,
) -> None:
    open_world(monkeypatch, demo_world)
    said = messor("crawl", url)
    assert said.code == 7
    assert word in said.err
    assert "Traceback" not in said.err


def doctor(messor: Messor, code: int = 0) -> dict[str, dict[str, str]]:
    said = messor("doctor", "--json")
    assert said.code == code
    return {check["name"]: check for check in said.json}


def test_doctor_config_and_completion(messor: Messor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESSOR_BROWSER", "off")
    states = {name: check["state"] for name, check in doctor(messor).items()}
    assert states.pop("sandbox") in ("ok", "note")  # what the kernel allows
    assert states == {
        "python": "ok",
        "postgresql": "ok",
        "data folder": "ok",
        "database": "ok",
        "contact": "note",
        "identity": "note",
        "allowed networks": "ok",
        "browser": "ok",
        "crawl4ai": "ok",
        "firecrawl": "ok",
        "alarms": "ok",
        "disks": "ok",
        "search engines": "ok",
        "search server": "ok",
        "model": "ok",
        "mail": "ok",
        "proxies": "ok",
        "secret key": "ok",
        "broker": "ok",
        "parsers": "ok",
    }
    monkeypatch.setenv("MESSOR_CONTACT", "mailto:crawl@example.org")
    settings = {row["setting"]: row for row in messor("config", "show", "--json").json}
    assert settings["contact"]["source"] == "environment"
    assert settings["default_delay"]["source"] == "default"
    assert "…@" in settings["database_url"]["value"]
    assert "_MESSOR_COMPLETE" in messor("completion", "bash").out


def test_doctor_tells_what_is_missing_and_how_to_mend_it(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MESSOR_BROWSER_PATH", str(tmp_path / "no-such-browser"))
    monkeypatch.setenv("MESSOR_CRAWL4AI_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("MESSOR_FIRECRAWL_URL", "ftp://user:secret@firecrawl.example/")
    assert messor("proxies", "add", "socks5://ant:hunter2@127.0.0.1:9").code == 0
    assert messor("proxies", "disable", "1").code == 0
    messor("domains", "submit", "example.org")
    messor("domains", "approve", "example.org")
    messor("domains", "configure", "example.org", "--proxies", "pool")
    (tmp_path / "data" / "secret.key").chmod(0o644)
    found = doctor(messor, code=1)
    assert found["browser"]["state"] == "note"
    assert "chromium" in found["browser"]["mend"]
    assert "127.0.0.1:9/ cannot be reached" in found["crawl4ai"]["found"]
    assert found["firecrawl"]["state"] == "bad"
    assert "secret" not in str(found["firecrawl"])
    assert "0 active, 1 disabled, used by 1 domains" in found["proxies"]["found"]
    assert found["proxies"]["state"] == "bad"
    assert found["secret key"]["mend"].startswith("chmod 600 ")


def test_doctor_tells_what_others_can_look_into(messor: Messor, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "archive").mkdir(parents=True)
    data.chmod(0o711)
    (data / "archive").chmod(0o755)
    found = doctor(messor)["data folder"]
    assert found["state"] == "note"
    assert found["mend"] == f"chmod -R go= {data / 'archive'}"
    (data / "archive").chmod(0o700)
    assert doctor(messor)["data folder"]["state"] == "ok"


def test_doctor_names_parsers_that_cannot_read(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_CONTACT", "https://example.org/bot")
    installed_parsers().add(Later())
    try:
        assert messor("parsers", "pin", "products=2rc1").code == 0
    finally:
        installed_parsers.cache_clear()
    check = doctor(messor, code=1)["parsers"]
    assert check["found"] == "products 2rc1 is pinned but not installed"
    entry = EntryPoint("theirs", "nothing_there:PARSER", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group else [])
    installed_parsers.cache_clear()
    try:
        check = doctor(messor, code=1)["parsers"]
    finally:
        installed_parsers.cache_clear()
    assert "The parser theirs (nothing_there:PARSER) cannot be loaded" in check["found"]


class Later(ProductParser):
    version = "2rc1"


async def hold(dsn: str, name: str) -> None:
    async with Database(dsn) as database:
        await holds.hold(database, name, None, "too many requests")


SERVICES = {"crawl4ai": Crawl4AIStandIn, "firecrawl": FirecrawlStandIn}


@pytest.mark.parametrize("name", SERVICES)
def test_doctor_proves_the_key_of_a_service(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with serving(lambda: SERVICES[name](no_browser, api_key="the-right-key")) as service:
        monkeypatch.setenv(f"MESSOR_{name.upper()}_URL", service.base_url)
        asks = doctor(messor, code=1)[name]
        monkeypatch.setenv(f"MESSOR_{name.upper()}_KEY", "hunter2")
        wrong = doctor(messor, code=1)[name]
        monkeypatch.setenv(f"MESSOR_{name.upper()}_KEY", "the-right-key")
        right = doctor(messor)[name]
        asyncio.run(hold(dsn, name))
        held = doctor(messor)[name]
        assert all(one.body == {} for one in service.asked)  # nothing is fetched
    assert (asks["state"], wrong["state"], right["state"]) == ("bad", "bad", "ok")
    assert "requires a key (401)" in asks["found"]
    assert "rejects the key (401)" in wrong["found"]
    assert f"MESSOR_{name.upper()}_KEY" in wrong["mend"]
    assert "hunter2" not in str(wrong)
    assert "accepts the key" in right["found"]
    assert held["state"] == "note"
    assert "on hold for another" in held["found"]
    assert "too many requests" in held["found"]


def test_doctor_proves_the_keys_of_search_engines_and_the_model(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SearchIndex(World("demo"))
    with (
        serving(lambda: SerperStandIn(index)) as serper,
        serving(lambda: ModelStandIn(api_key="the-right-key")) as model,
    ):
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SERPER__URL", serper.base_url)
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SERPER__KEY", "hunter2")
        monkeypatch.setenv("MESSOR_AI_URL", f"{model.base_url}/v1")
        monkeypatch.setenv("MESSOR_AI_KEY", "hunter2")
        wrong = doctor(messor, code=1)
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SERPER__KEY", KEY)
        monkeypatch.setenv("MESSOR_AI_KEY", "the-right-key")
        right = doctor(messor)
        assert serper.searches == 0
    assert "rejects our API key" in wrong["search engines"]["found"]
    assert "rejects the key (401)" in wrong["model"]["found"]
    assert "hunter2" not in str(wrong)
    assert [right[name]["state"] for name in ("search engines", "model")] == ["ok", "ok"]


def test_settings_from_a_file_and_from_dotenv(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "messor.toml").write_text("default_delay = 7.5\nvisit_pages = 9\n")
    (tmp_path / ".env").write_text("MESSOR_VISIT_PAGES=11\n")
    settings = {row["setting"]: row for row in messor("config", "show", "--json").json}
    assert (settings["default_delay"]["value"], settings["default_delay"]["source"]) == (
        "7.5",
        "messor.toml",
    )
    assert (settings["visit_pages"]["value"], settings["visit_pages"]["source"]) == ("11", ".env")


def test_broken_toml_is_one_sentence(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "messor.toml").write_text("data_dir = [")
    said = messor("config", "show")
    assert said.code == 2
    assert "messor.toml is not valid TOML" in said.err


def test_credentials_in_a_url_are_kept_nowhere(
    messor: Messor, demo_world: WorldProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_world(monkeypatch, demo_world)
    crawled = messor("crawl", "http://user:secret@alder-foundation.test/", "--depth", "0", "--json")
    assert crawled.code == 0, crawled.err
    listed = messor("pages", "alder-foundation.test", "--json")
    explained = messor("why", "http://user:secret@alder-foundation.test/")
    shown = messor("domains", "show", "alder-foundation.test")
    for said in (crawled, listed, explained, shown, messor("events", "--json")):
        assert "secret" not in said.out + said.err
    assert all("secret" not in request.path for request in demo_world.requests())
