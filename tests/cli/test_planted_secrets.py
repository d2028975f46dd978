"""No command that reads prints a secret of a setting, a payload, an event or an error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from messor.access.principal import LOCAL_ADMIN
from messor.cli.main import cli
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.ops.webhooks import registry
from messor.settings import Settings
from messor.store.database import Database
from tests.cli.conftest import Messor
from tests.console.planting import MARK, mark, plant_work

SECRETS = {
    "MESSOR_AI_KEY": "ai_key", "MESSOR_CRAWL4AI_KEY": "crawl4ai_key", "MESSOR_FIRECRAWL_KEY": "firecrawl_key",
    "MESSOR_SECRET_KEY": "secret_key", "MESSOR_OIDC_CLIENT_SECRET": "oidc",
}  # fmt: skip
URLS = ("MESSOR_AI_URL", "MESSOR_CRAWL4AI_URL", "MESSOR_FIRECRAWL_URL")
READING = {"list", "show", "status"}  # the last word of commands that only read
MORE = (
    ["doctor"], ["events"], ["jobs", "dead"], ["jobs", "errors"], ["jobs", "stats"],
    ["domains", "queue"], ["model", "calls"], ["scout", "engines"], ["scout", "sessions"],
)  # fmt: skip
# Who may use the command line manages webhooks, and must see where they lead.
HOMES = {mark("webhook.url"): "webhooks"}
AUDITED = {mark("audit.payload"), mark("audit.session"), mark("audit.proxy")}


def _commands(group: click.Group, *before: str) -> Iterator[tuple[list[str], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, *before, name)
        else:
            yield [*before, name], command


def _reads() -> list[list[str]]:
    """Every command that reads and needs no argument, so that a new one is looked at, too."""
    found = [
        words
        for words, command in _commands(cli)
        if words[-1] in READING and not any(each.required for each in command.params)
    ]
    return [*found, *MORE]


def _prepare(dsn: str, folder: Path) -> list[str]:
    """Plants; answers the dead jobs."""

    async def act() -> list[str]:
        async with Database(dsn) as database:
            async with database.transaction() as connection:
                settings = Settings(data_dir=folder)
                await registry.add(
                    connection, seal_for(settings), AddressGuard(settings.allowed_networks),
                    url=f"https://hooks.example/{mark('webhook.url')}", types=[], may_audit=True, actor="x",
                )  # fmt: skip
                await plant_work(connection, LOCAL_ADMIN)
            return [str(row["id"]) for row in await database.fetch("SELECT id FROM messor.jobs")]

    return asyncio.run(act())


def test_no_command_prints_one(
    messor: Messor, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = _prepare(dsn, tmp_path / "data")
    for name, where in SECRETS.items():
        monkeypatch.setenv(name, mark(f"setting.{where}"))
    for name in URLS:
        secret = mark(name)
        monkeypatch.setenv(
            name, f"http://user:{secret}@127.0.0.1:9/v1?key={secret}&password={secret}"
        )
    monkeypatch.setenv("MESSOR_BROKER_URL", f"amqp://guest:{mark('broker')}@127.0.0.1:9//")
    engine = mark("engine")
    monkeypatch.setenv(
        "MESSOR_SEARCH_ENGINES",
        f'{{"searxng": {{"url": "http://127.0.0.1:9/?api_key={engine}", "key": "{engine}"}}}}',
    )
    (tmp_path / "backups").mkdir()
    monkeypatch.setenv("MESSOR_BACKUP_TO", str(tmp_path / "backups"))
    printed: dict[str, list[str]] = {}
    reads = _reads()
    assert len(reads) > 20, reads
    for words in (*reads, *(["jobs", "show", job] for job in jobs)):
        for more in ([], ["--json"]):
            said = messor(*words, *more)
            found = set(MARK.findall(said.out + said.err)) - AUDITED
            found -= {secret for secret, home in HOMES.items() if words[0] == home}
            if found:
                printed[" ".join(words + more)] = sorted(found)
            assert said.code in (0, 1, 3, 5), (words, said.err)
    assert printed == {}


def test_the_password_in_a_query_is_hidden(messor: Messor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "MESSOR_DATABASE_URL", "postgresql://db.example/m?user=a&password=hunter2hunter2"
    )
    shown = {row["setting"]: row["value"] for row in messor("config", "show", "--json").json}
    assert shown["database_url"] == "postgresql://db.example/m?user=a&password=…"


def test_a_file_name_with_a_secret_is_not_told(messor: Messor, tmp_path: Path) -> None:
    secret = mark("file.name")
    file = tmp_path / f"page?token={secret}"
    file.write_bytes(b"nothing that can be read")
    said = messor("import", str(file))
    assert secret not in said.out + said.err
