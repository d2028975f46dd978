"""The reference of all commands as markdown, from their declarations.

python -m messor.cli.reference docs/cli.md
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from messor.cli.main import cli

HEAD = """# Commands

Generated from the code by `python -m messor.cli.reference docs/cli.md`; a test fails when it lags. Commands that
print data take `--json`; data goes to stdout, everything else to stderr. Exit codes: [errors](errors.md).
"""


def reference() -> str:
    """The whole page."""
    context = click.Context(cli, info_name="messor")
    parts = [HEAD, *_sections(cli, context)]
    return "\n".join(parts).rstrip() + "\n"


def _sections(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield _section(command, inner)
        if isinstance(command, click.Group):
            yield from _sections(command, inner)


def _section(command: click.Command, context: click.Context) -> str:
    level = "##" if context.command_path.count(" ") == 1 else "###"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"{level} {context.command_path}", f"`{usage}`", *_help(command)]
    options = [
        record
        for each in command.params
        if isinstance(each, click.Option) and (record := each.get_help_record(context))
    ]
    if options:
        rows = (f"| `{_cell(name)}` | {_cell(about)} |" for name, about in options)
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _help(command: click.Command) -> Iterator[str]:
    """Paragraphs; those that keep their lines are code."""
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        if part.startswith("\b\n"):
            first, *rest = part.removeprefix("\b\n").splitlines()
            lines = inspect.cleandoc("\n".join(rest)) if first.endswith(":") else ""
            yield f"```\n{lines or inspect.cleandoc(part.removeprefix(chr(8)))}\n```"
        else:
            yield " ".join(part.split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), "utf-8")
