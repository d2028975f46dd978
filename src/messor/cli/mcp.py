"""`messor mcp`: the tools for agents, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import contextlib

import click

from messor.cli.output import run
from messor.core.terminal import say
from messor.errors import UnavailableError
from messor.insight.full_text import FullText
from messor.settings import Settings
from messor.store.session import open_session

CONNECTIONS = 6


@click.command()
@click.option(
    "--http",
    "is_served",
    is_flag=True,
    help="Serve streamable HTTP; each request brings its API key.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --http."
)
@click.option(
    "--port",
    default=8322,
    show_default=True,
    type=click.IntRange(1, 65_535),
    help="Port, with --http.",
)
def mcp(*, is_served: bool, host: str, port: int) -> None:
    """Serve Messor's tools to agents over the Model Context Protocol.

    Over standard input and output the key is MESSOR_MCP_KEY; without one, agents read what is known and
    have nothing fetched. Roles and key policies apply. Workers fetch: run messor up beside it.

    \b
    Example:
      messor mcp
      messor mcp --http --port 8322
    """
    try:
        # An extra, and slow to load.
        from messor.mcp.http_server import http_server  # noqa: PLC0415
        from messor.mcp.server import make_server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mcp"):
            raise
        raise UnavailableError("Agents need the package mcp: pip install 'messor[mcp]'") from error

    async def serve() -> None:
        settings = Settings()
        async with (
            open_session(settings, pool_size=CONNECTIONS) as session,
            FullText.of(settings, session.database) as full_text,
        ):
            server, services = make_server(
                settings, session.database, full_text, is_served=is_served
            )
            keeping = asyncio.create_task(services.keeper.run())
            try:
                if is_served:
                    say(f"Serving tools for agents on http://{host}:{port}/mcp")
                    database = session.database
                    await http_server(server, settings, database, host=host, port=port).serve()
                else:
                    await server.run_stdio_async()
            finally:
                keeping.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await keeping

    run(serve())
