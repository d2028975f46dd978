"""What is public about us: key directory, agent card, address ranges and the bot page.

Served when `MESSOR_IDENTITY_URL` names where; the same documents can be exported as files.
"""

from __future__ import annotations

import time

from starlette.responses import Response

from messor.console.call import ConsoleRequest
from messor.console.screens import PUBLIC, get
from messor.errors import UnavailableError
from messor.fetch.identity import keys, publication
from messor.fetch.identity.publication import PublishedFile


async def show_directory(call: ConsoleRequest) -> Response:
    """The published keys; each signs the response, so that nobody can publish them as theirs."""
    context = call.context
    await keys.ensure(context.database, context.seal)
    try:
        proving = await keys.signing_keys(context.database, context.seal)
    except UnavailableError:
        proving = []  # the directory is valid without
    published = await keys.published(context.database)
    return _sent(publication.directory(context.settings, published, proving, int(time.time())))


async def show_card(call: ConsoleRequest) -> Response:
    return _sent(publication.card(call.context.settings))


async def show_ranges(call: ConsoleRequest) -> Response:
    return _sent(publication.ranges(call.context.settings))


async def show_page(call: ConsoleRequest) -> Response:
    """The bot page: who we are, what for, how to slow us down or stop us."""
    settings = call.context.settings
    response = call.bare("bot/page.html", about=publication.about(settings))
    response.headers["Link"] = publication.links(settings)
    response.headers["Cache-Control"] = f"max-age={keys.DIRECTORY_SECONDS}"
    return response


def _sent(document: PublishedFile) -> Response:
    return Response(document.body, media_type=document.media_type, headers=dict(document.headers))


SCREENS = (
    get(publication.DIRECTORY, PUBLIC, show_directory),
    get(publication.CARD, PUBLIC, show_card),
    get(publication.RANGES, PUBLIC, show_ranges),
    get(publication.PAGE, PUBLIC, show_page),
)
