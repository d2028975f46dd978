"""`messor inspect`: the web's rules as Messor reads them, for people and scripts."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from messor.cli.output import print_json
from messor.errors import MessorError, UsageError
from messor.explain.inspect import DEFAULT_AGENT, SUBJECTS

JSONL = click.option(
    "--jsonl", is_flag=True, help="Read one JSON object per line from stdin, answer one per line."
)


@click.group()
def inspect() -> None:
    """Ask what Messor's rules say; nothing is fetched or stored.

    \b
    Example:
      messor inspect url HTTP://Example.COM/a/../b#c
      messor inspect robots robots.txt https://example.com/private/
      cat urls.jsonl | messor inspect url --jsonl
    """


@inspect.command()
@click.argument("text", required=False)
@click.option("--base", help="What a relative URL refers to.")
@JSONL
def url(text: str | None, base: str | None, jsonl: bool) -> None:
    """How a URL is read: its canonical form, its hash, its domain.

    \b
    Example:
      messor inspect url ../b?utm_source=x --base https://example.com/a/
    """
    _answer("url", jsonl, {"input": text, "base": base})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.argument("address", required=False)
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="The robots token.")
@JSONL
def robots(file: Path | None, address: str | None, agent: str, jsonl: bool) -> None:
    """Whether a robots.txt lets an agent fetch a URL, and by which rule.

    \b
    Example:
      messor inspect robots robots.txt https://example.com/private/
    """
    text = _read(file).decode("utf-8", "replace") if file else None
    _answer("robots", jsonl, {"robots_txt": text, "url": address, "user_agent": agent})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--url", "address", help="Where the sitemap was found.")
@JSONL
def sitemap(file: Path | None, address: str | None, jsonl: bool) -> None:
    """What a sitemap lists: XML, gz, text, RSS or Atom.

    \b
    Example:
      messor inspect sitemap sitemap.xml.gz
    """
    _answer("sitemap", jsonl, {"body_b64": _encoded(file), "url": address})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--content-type", help="The Content-Type header it came with.")
@JSONL
def encoding(file: Path | None, content_type: str | None, jsonl: bool) -> None:
    """In which encoding a page is written.

    \b
    Example:
      messor inspect encoding page.html --content-type "text/html; charset=latin1"
    """
    _answer("encoding", jsonl, {"body_b64": _encoded(file), "content_type_header": content_type})


@inspect.command()
@click.argument("address", required=False)
@click.option("--dns", multiple=True, help="An address the name resolves to; may be repeated.")
@JSONL
def address(address: str | None, dns: tuple[str, ...], jsonl: bool) -> None:
    """Whether the address guard would let a request go out.

    \b
    Example:
      messor inspect address http://metadata.example/ --dns 169.254.169.254
    """
    _answer("address", jsonl, {"url": address, "dns": list(dns)})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--url", "address", default="https://example.invalid/page", help="Where it was found."
)
@click.option("--generic", is_flag=True, help="Leave out the parsers made for a site.")
@JSONL
def page(file: Path | None, address: str, generic: bool, jsonl: bool) -> None:
    """What is made of a page: main content, type, records with evidence, links, hashes.

    \b
    Example:
      messor inspect page saved.html --url https://example.com/saved
      messor inspect page --generic --jsonl < pages.jsonl
    """
    own: dict[str, Any] = {"generic": True} if generic else {}
    _answer("page", jsonl, {"body_b64": _encoded(file), "url": address}, own)


def _answer(
    subject: str, jsonl: bool, given: dict[str, Any], always: Mapping[str, Any] | None = None
) -> None:
    """Answer the one given thing or each of stdin's; what is `always` so goes for all."""
    if jsonl:
        _answer_lines(subject, always or {})
    else:
        print_json(SUBJECTS[subject]({**given, **(always or {})}))


def _answer_lines(subject: str, always: Mapping[str, Any]) -> None:
    """One answer per line, in order; a bad line gets an error and the next one its turn."""
    examine = SUBJECTS[subject]
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        try:
            # Not the fastest decoder but the one that takes lone surrogates, as scripts send them.
            given = json.loads(line)
            if not isinstance(given, dict):
                raise UsageError("a JSON object is needed")
            found = examine({**given, **always})
        except (MessorError, ValueError, RecursionError) as error:
            found = {"error": str(error) or type(error).__name__}
        output.write(json.dumps(found).encode() + b"\n")
    output.flush()


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def _encoded(file: Path | None) -> str | None:
    return base64.b64encode(_read(file)).decode() if file else None
