"""`messor identity`: the keys that sign requests to sites, and what is published about them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.console.jinja import environment
from messor.core.terminal import say
from messor.errors import UnavailableError, UsageError
from messor.fetch.identity import keys, publication
from messor.fetch.identity.keys import IdentityKey
from messor.fetch.identity.publication import PublishedFile
from messor.fetch.proxies.seal import seal_for
from messor.settings import Settings
from messor.store.database import Connection, Database

HEAD = ("key", "state", "made", "signs from", "published until")
OFF = (
    "Requests are not signed: MESSOR_IDENTITY_URL is not set. Set it to the public https address "
    "at which this console, or the exported files, can be reached."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The identity as `messor identity show` prints it."""

    url: str | None
    directory: str | None
    keys: list[IdentityKey]


@click.group()
def identity() -> None:
    """Show, export and rotate the keys that sign requests to sites (Web Bot Auth).

    \b
    Example:
      messor identity show
      messor identity export -o public/
      messor identity rotate
    """


@identity.command()
@json_option
def show(as_json: bool) -> None:
    """Show who requests are signed as, and the keys.

    \b
    Example:
      messor identity show --json
    """
    settings = Settings()
    url = settings.identity_url and publication.base_url(settings)
    found = Shown(url, url and url + publication.DIRECTORY, run(with_database(_made(settings))))
    if as_json:
        print_json(found)
        return
    if url is None:
        say(OFF)
    else:
        emit(f"Requests are signed as {url}; the directory is {found.directory}")
    _print(found.keys)


def _made(settings: Settings) -> Any:
    async def act(database: Database) -> list[IdentityKey]:
        if settings.identity_url is not None:
            await keys.ensure(database, seal_for(settings), actor=LOCAL_ADMIN)
        return await keys.all_keys(database)

    return act


def _print(found: list[IdentityKey]) -> None:
    print_table(
        HEAD,
        [
            (key.thumbprint, _state(key), key.created_at, key.use_from, key.published_until)
            for key in found
        ],
    )


def _state(key: IdentityKey) -> str:
    if not key.is_published:
        return "withdrawn"
    if key.is_active:
        return "signs"
    return "waits" if key.is_waiting else "published"


@identity.command()
@click.option("--now", "at_once", is_flag=True, help="Withdraw the former key at once.")
@json_option
def rotate(at_once: bool, as_json: bool) -> None:
    """Publish a new key, which signs once every cached directory knows it.

    The former key signs until then, and stays published until its signatures have expired. With
    --now, for a key that others may know, the new key signs at once and the former one is withdrawn;
    sites that keep a copy of the directory may refuse requests for up to an hour.

    \b
    Example:
      messor identity rotate
      messor identity rotate --now
    """
    settings = _on()

    async def act(connection: Connection) -> list[IdentityKey]:
        seal = seal_for(settings)
        return list(await keys.rotate(connection, seal, actor=LOCAL_ADMIN, at_once=at_once))

    found = run(transact(act))
    if as_json:
        print_json(found)
        return
    _print(found)
    say(_next(found[0], at_once))


def _next(key: IdentityKey, at_once: bool) -> str:
    exported = "If the directory is served from exported files, export and publish them now."
    if at_once:
        return f"The new key signs within a minute. {exported}"
    when: datetime = key.use_from
    return f"The new key is published and signs from {when:%Y-%m-%d %H:%M} UTC on. {exported}"


@identity.command()
@click.option(
    "-o", "--output", "folder", required=True, help="Folder to write to.",
    type=click.Path(file_okay=False, writable=True, path_type=Path),
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the written paths as JSON.")
def export(folder: Path, as_json: bool) -> None:
    """Write key directory, agent card, address ranges and bot page as files for any web server.

    `_headers` names the media types, in the form that common hosts of static files read. The
    directory's own signature is served by Messor only: it lasts a day.

    \b
    Example:
      messor identity export -o public/
    """
    settings = _on()
    documents = run(with_database(_documents(settings)))
    try:
        paths = [_write(folder, document) for document in documents]
        paths.append(_write(folder, _headers(documents)))
    except OSError as error:
        raise UnavailableError(f"{folder} cannot be written: {error.strerror}.") from error
    if as_json:
        print_json(paths)
        return
    for path in paths:
        emit(path)


def _documents(settings: Settings) -> Any:
    async def act(database: Database) -> list[PublishedFile]:
        await keys.ensure(database, seal_for(settings), actor=LOCAL_ADMIN)
        published = await keys.published(database)
        page = environment("").get_template("bot/static.html")
        form = settings.public_url and settings.public_url.rstrip("/") + publication.FORM
        about = replace(publication.about(settings), form_path=form)
        html = page.render(about=about).encode()
        return [
            publication.directory(settings, published, (), int(time.time())),
            publication.card(settings),
            publication.ranges(settings),
            PublishedFile(f"{publication.PAGE}/index.html", "text/html; charset=utf-8", html, {}),
        ]

    return act


def _headers(documents: list[PublishedFile]) -> PublishedFile:
    lines = []
    for each in documents:
        lines.append(each.path)
        fields = {"Content-Type": each.media_type, **each.headers}
        lines += [f"  {name}: {value}" for name, value in fields.items()]
    return PublishedFile("/_headers", "text/plain", "\n".join([*lines, ""]).encode(), {})


def _write(folder: Path, document: PublishedFile) -> str:
    path = folder / document.path.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document.body)
    return str(path)


def _on() -> Settings:
    settings = Settings()
    if settings.identity_url is None:
        raise UsageError(OFF)
    return settings
