"""Commands of other packages: found by their entry points, never in place of Messor's own."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import click
import pytest

from messor.cli import main
from tests.cli.conftest import Messor


@click.command()
def theirs() -> None:
    click.echo("theirs")


@pytest.mark.parametrize("command", ["demo", "rehearse"])
def test_without_simweb_its_commands_say_how_to_install_it(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(main, "PLUGINS", EntryPoints())
    refused = messor(command, "--once", "--json")
    assert refused.code == 6
    assert "pip install ./packages/simweb" in refused.err
    assert refused.out == ""


def test_a_plugin_adds_a_command_and_replaces_none(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = f"{__name__}:theirs"
    added = [EntryPoint(name, value, "messor.commands") for name in ("theirs", "completion")]
    monkeypatch.setattr(main, "PLUGINS", EntryPoints(added))
    assert messor("theirs").out == "theirs\n"
    assert "theirs" in messor("--help").out
    assert "theirs" not in messor("completion", "bash").out.splitlines()
