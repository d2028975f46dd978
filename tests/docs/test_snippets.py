"""Commands and snippets of the documentation: all are parsed in every run, and run by `make docs-test`."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import click
import pytest

from messor.cli.main import cli
from messor.settings import Settings
from tests.docs.snippets import PAGES, Snippet, snippets, words_of

EVERY = [snippet for page in PAGES for snippet in snippets(page)]
COMMANDS = [(snippet.name, line) for snippet in EVERY for line in snippet.commands()]
LANGUAGES = {
    "", "toml", "json", "python", "javascript", "php", "http", "nginx", "mermaid", "sql", "yaml",
}  # fmt: skip
SETTING = re.compile(r"([A-Z_]+)=\S*")
OF_CLIENTS = {"MESSOR_KEY", "MESSOR_URL"}
STAND_INS = {
    "ID": "019a7c1e-5f2b-7c3a-9d41-6b0f8f2e4a10",
    "TRIAL": "019a7c1e-5f2b-7c3a-9d41-6b0f8f2e4a10",
    "CANDIDATE": "019a7c1e-5f2b-7c3a-9d41-6b0f8f2e4a10",
    "DELIVERY": "019a7c1e-5f2b-7c3a-9d41-6b0f8f2e4a10",
    "RECORD": "17",
}


def parse(words: list[str]) -> None:
    """What click does before the command runs; a missing file is the reader's to bring."""
    context = click.Context(cli, info_name="messor")
    name, found, args = cli.resolve_command(context, words)
    while isinstance(found, click.Group):
        context = click.Context(found, parent=context, info_name=name)
        if not args:
            return
        name, found, args = found.resolve_command(context, args)
    assert found is not None
    try:
        context = found.make_context(name, list(args), parent=context)
    except click.BadParameter as error:
        if not any(part in str(error) for part in ("No such file", "does not exist")):
            raise
    else:
        context.close()


@pytest.mark.parametrize("place, line", COMMANDS, ids=[f"{p} {c[:50]}" for p, c in COMMANDS])
def test_every_command_is_one_that_exists(
    place: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parse([STAND_INS.get(word, word) for word in words_of(line)])


def test_every_block_can_be_read() -> None:
    for snippet in EVERY:
        assert snippet.language in LANGUAGES, snippet.name
        if snippet.language == "toml":
            assert tomllib.loads(snippet.text), snippet.name
        elif snippet.language == "json":
            json.loads(snippet.text)
        elif snippet.language == "python":
            ast.parse(snippet.text)


def test_settings_of_the_readme_are_settings() -> None:
    (shown,) = [
        snippet
        for snippet in EVERY
        if snippet.page.name == "README.md" and snippet.language == "toml"
    ]
    assert set(tomllib.loads(shown.text)) <= set(Settings.model_fields)


def test_what_is_not_run_says_why() -> None:
    for snippet in EVERY:
        if snippet.why_not is not None:
            assert len(snippet.why_not.split()) >= 3, snippet.name
        elif not snippet.language:
            assert runs(snippet), f"{snippet.name} runs no command of Messor: mark it"


def runs(snippet: Snippet) -> bool:
    lines = snippet.lines()
    return bool(
        snippet.commands()
        or any(line.startswith("curl ") for line in lines)
        or all(SETTING.match(line) for line in lines)
    )


def test_variables_are_settings() -> None:
    for snippet in EVERY:
        for line in snippet.lines():
            found = SETTING.match(line)
            if found and found[1].startswith("MESSOR_") and not snippet.language:
                name = found[1].removeprefix("MESSOR_").lower().partition("__")[0]
                assert name in Settings.model_fields or found[1] in OF_CLIENTS, (snippet.name, line)
