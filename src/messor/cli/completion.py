"""`messor completion`: print a shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from messor.errors import UsageError


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Example:
      messor completion bash >> ~/.bashrc
    """
    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"Completion is not available for {shell}.")
    root = context.find_root().command
    click.echo(found(root, {}, "messor", "_MESSOR_COMPLETE").source())
