"""Parsers as they are chosen on the command line: NAME=VERSION, everywhere or for one domain."""

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

RESTART = (
    "If it was installed while workers run, start them again: they know what was there before."
)

DOMAIN = click.option("--domain", help="Only for pages of this domain; otherwise everywhere.")


def named(parser: str) -> tuple[str, str]:
    """The name and the version, if there is such a parser."""
    name, _, version = parser.partition("=")
    if not version:
        raise UsageError(f"Name a version as well: {name}=VERSION.")
    installed_parsers().get(name, version)
    return name, version


async def with_database(look: Any) -> Any:
    """What one look into the database tells."""
    async with open_session(Settings(), pool_size=1) as session:
        return await look(session.database)


async def domain_id_of(database: Database, domain: str | None) -> UUID | None:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id
