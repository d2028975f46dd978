"""Parser arguments of the command line: NAME=VERSION, for all domains or one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from messor.errors import UsageError
from messor.parsers.page_reading import installed_parsers
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

RESTART = "If the parser was installed while workers were running, restart them: they load parsers at start."

DOMAIN = click.option("--domain", help="Only for pages of this domain; default: all domains.")


def parse_parser(parser: str) -> tuple[str, str]:
    """Split NAME=VERSION and check that this parser is installed."""
    name, _, version = parser.partition("=")
    if not version:
        raise UsageError(f"The version is missing; give {name}=VERSION.")
    installed_parsers().get(name, version)
    return name, version


async def with_database(query: Any) -> Any:
    """Run one query on the database."""
    async with open_session(Settings(), pool_size=1) as session:
        return await query(session.database)


async def domain_id_of(database: Database, domain: str | None) -> UUID | None:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id
