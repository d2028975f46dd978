"""The entry point: finds the command and prints every known error as one sentence.

Exit codes: 0 done, 1 failed, 2 invalid input, 3 part of a batch was refused, 4 not found,
5 conflict with the current state, 6 a server or folder cannot be used, 7 a crawl or import
returned no page, 8 an audit found a violation, 9 a plan found differences, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tomllib
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from itertools import takewhile

import click
from click.shell_completion import CompletionItem
from pydantic import ValidationError
from pydantic_settings import SettingsError

from messor import __version__
from messor.cli.output import show_error
from messor.cli.summaries import SUMMARIES
from messor.core.full_disk import is_full
from messor.core.logs import configure_logs
from messor.core.terminal import guard_terminal, say
from messor.errors import MessorError, UnavailableError
from messor.settings import Settings, toml_file

COMMANDS = {
    "analytics": "messor.cli.analytics:analytics",
    "archive": "messor.cli.archive:archive",
    "backup": "messor.cli.backup:backup",
    "apply": "messor.cli.configuration:apply",
    "audit": "messor.cli.audit:audit",
    "changes": "messor.cli.changes:changes",
    "completion": "messor.cli.completion:completion",
    "config": "messor.cli.config:config",
    "corrections": "messor.cli.corrections:corrections",
    "crawl": "messor.cli.crawl:crawl",
    "db": "messor.cli.db:db",
    "doctor": "messor.cli.doctor:doctor",
    "domains": "messor.cli.domains:domains",
    "entities": "messor.cli.entities:entities",
    "evidence": "messor.cli.evidence:evidence",
    "events": "messor.cli.events:events",
    "export": "messor.cli.export:export",
    "extract": "messor.cli.extract:extract",
    "fetches": "messor.cli.pages:fetches",
    "identity": "messor.cli.identity:identity",
    "import": "messor.cli.imports:import_",
    "inspect": "messor.cli.inspect:inspect",
    "jobs": "messor.cli.jobs:jobs",
    "keys": "messor.cli.keys:keys",
    "keywords": "messor.cli.keywords:keywords",
    "mail": "messor.cli.mail:mail",
    "mcp": "messor.cli.mcp:mcp",
    "members": "messor.cli.members:members",
    "model": "messor.cli.model:model",
    "orbits": "messor.cli.orbits:orbits",
    "owners": "messor.cli.owners:owners",
    "pages": "messor.cli.pages:pages",
    "parsers": "messor.cli.parsers:parsers",
    "plan": "messor.cli.configuration:plan",
    "person": "messor.cli.person:person",
    "prices": "messor.cli.prices:prices",
    "products": "messor.cli.records:products",
    "proxies": "messor.cli.proxies:proxies",
    "query": "messor.cli.analytics:query",
    "records": "messor.cli.records:records",
    "relevance": "messor.cli.relevance:relevance",
    "replay": "messor.cli.extract:replay",
    "retention": "messor.cli.retention:retention",
    "rights": "messor.cli.rights:rights",
    "schedule": "messor.cli.schedule:schedule",
    "scores": "messor.cli.scores:scores",
    "scout": "messor.cli.scout:scout",
    "search": "messor.cli.search:search",
    "search-index": "messor.cli.search_index:search_index",
    "snapshots": "messor.cli.pages:snapshots",
    "status": "messor.cli.status:status",
    "tasks": "messor.cli.tasks:tasks",
    "traffic": "messor.cli.traffic:traffic",
    "up": "messor.cli.up:up",
    "verticals": "messor.cli.verticals:verticals",
    "watches": "messor.cli.watches:watches",
    "webhooks": "messor.cli.webhooks:webhooks",
    "why": "messor.cli.why:why",
    "worker": "messor.cli.worker:worker",
}
# Other packages register commands by this group; without simweb these two say how to install it.
PLUGINS = entry_points(group="messor.commands")
SIMWEB_COMMANDS = ("demo", "rehearse")


class LazyGroup(click.Group):
    """Imports a command's module only when it is called, to keep start-up fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted({*COMMANDS, *PLUGINS.names, *SIMWEB_COMMANDS})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their summaries; only those without one are imported."""
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self._summary(ctx, name).get_short_help_str(limit)) for name in names]
            )

    def _summary(self, ctx: click.Context, name: str) -> click.Command:
        if name in SUMMARIES:
            return click.Command(name, help=SUMMARIES[name])
        command = self.get_command(ctx, name)
        assert command is not None  # it is listed
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without importing the commands."""
        return [
            CompletionItem(name, help=self._summary(ctx, name).get_short_help_str())
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name].partition(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        if cmd_name in PLUGINS.names:
            plugin: click.Command = PLUGINS[cmd_name].load()
            return plugin
        return _missing_simweb(cmd_name) if cmd_name in SIMWEB_COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Treat `messor URL` as `messor crawl URL`: a URL has a dot or a scheme, a command has not."""
        if args and args[0] not in COMMANDS and ("." in args[0] or "://" in args[0]):
            args = ["crawl", *args]
        elif args and args[0].partition(":")[0] == "localhost":
            args = ["crawl", *args]  # which says how to crawl one's own machine
        elif args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            near = get_close_matches(args[0], self.list_commands(ctx), n=2)
            more = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{more}")
        return super().resolve_command(ctx, args)


def _missing_simweb(name: str) -> click.Command:
    """Return a command that accepts any arguments and says how to install simweb."""

    def refuse() -> None:
        raise UnavailableError(
            f"messor {name} requires the package simweb, which is not installed. In a checkout of "
            "Messor run: pip install ./packages/simweb (make demo does this itself)."
        )

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=refuse, help=SUMMARIES[name], context_settings=settings)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="messor")
@click.pass_context
def cli(context: click.Context) -> None:
    """A governed web crawler: crawls approved domains only and keeps evidence of every decision.

    \b
    Example:
      messor demo --once            crawl a simulated web
      messor https://example.org/   crawl a domain (short for: messor crawl …)
      messor why https://example.org/private/
    """
    _write_logs(context.invoked_subcommand)


def _write_logs(command: str | None) -> None:
    """Set logging up; settings that cannot be read are for the command itself to report."""
    with contextlib.suppress(ValidationError, SettingsError, tomllib.TOMLDecodeError):
        settings = Settings()
        default = "info" if command in ("up", "worker") else "warning"
        configure_logs(settings.log_level, settings.log_format, default=default)


def main() -> None:
    """Run a command with a umask that keeps exports, dumps, archive and keys private."""
    guard_terminal()
    before = os.umask(0o077)
    try:
        _run()
    finally:
        os.umask(before)


def _run() -> None:
    """Run the command; on a known error print one sentence and exit with its code."""
    try:
        code = cli(standalone_mode=False)  # the code of an early exit, if there was one
        if isinstance(code, int):
            sys.exit(code)
    except click.Abort:
        say("messor: interrupted")
        sys.exit(130)
    except click.ClickException as error:
        show_error(error)
        sys.exit(error.exit_code)
    except ValidationError as error:
        first = error.errors()[0]
        # Parts of a table have variables of their own; host names and places in a list have none.
        parts = takewhile(str.isidentifier, map(str, first["loc"]))
        name, why = "__".join(parts).upper(), first["msg"].removeprefix("Value error, ")
        say(f"messor: setting MESSOR_{name} is invalid: {why}")
        sys.exit(2)
    except SettingsError as error:
        found = re.search(r'field "(\w+)"', str(error))
        name = found[1].upper() if found else "*"
        say(f"messor: setting MESSOR_{name} is invalid: it must be JSON")
        sys.exit(2)
    except tomllib.TOMLDecodeError as error:
        say(f"messor: {toml_file()} is not valid TOML: {error}")
        sys.exit(2)
    except MessorError as error:
        say(f"messor: {error}")
        sys.exit(error.exit_code)
    except Exception as error:
        message = _describe(error)
        if message is None:
            raise  # a bug in Messor: the traceback is needed
        say(f"messor: {message}")
        sys.exit(UnavailableError.exit_code)


def _describe(error: Exception) -> str | None:
    """Say in a sentence what went wrong and what to do; None for a bug in Messor.

    Packages translate the errors they expect. The rest comes from the database, files and sockets.
    """
    if is_full(error):
        return (
            f"a disk is full ({error}). Free some space and run the command again; the file it was "
            "writing is incomplete."
        )
    return _describe_database_error(error) or _describe_system_error(error)


def _describe_database_error(error: Exception) -> str | None:
    asyncpg = sys.modules.get("asyncpg")  # not loaded for commands that need no database
    if asyncpg is None:
        return None
    if isinstance(error, asyncpg.PostgresError):
        message = str(error).partition("\n")[0].rstrip(".")
        return f"The database returned an error: {message}. To check it: messor doctor"
    if isinstance(error, (asyncpg.InterfaceError, asyncpg.InternalClientError)):
        return "The connection to the database was lost. Try again, or check it: messor doctor"
    return None


def _describe_system_error(error: Exception) -> str | None:
    if isinstance(error, BrokenPipeError):
        return "The output was closed by its reader."
    if isinstance(error, TimeoutError):
        return "The operation timed out. Try again, or check the system: messor doctor"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return None
