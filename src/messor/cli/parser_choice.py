"""Parser arguments of the command line: NAME=VERSION, for all domains or one."""

from __future__ import annotations

from uuid import UUID

import click

from messor.errors import UsageError
from messor.parsers.page_reading import installed_parsers
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.store.database import Connection, Database

RESTART = "If the parser was installed while workers were running, restart them: they load parsers at start."

DOMAIN = click.option("--domain", help="Only for pages of this domain; default: all domains.")


def parse_parser(parser: str) -> tuple[str, str]:
    """Split NAME=VERSION and check that this parser is installed."""
    name, _, version = parser.partition("=")
    if not version:
        raise UsageError(f"The version is missing; give {name}=VERSION.")
    installed_parsers().get(name, version)
    return name, version


async def domain_id_of(database: Database | Connection, domain: str | None) -> UUID | None:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id
