"""`messor inspect`: show how Messor interprets URLs, robots.txt, sitemaps and pages."""

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
    "--jsonl", is_flag=True, help="Read one JSON object per line from stdin and print one per line."
)

FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def inspect() -> None:
    """Show how Messor interprets its input; nothing is fetched or stored.

    \b
    Example:
      messor inspect url HTTP://Example.COM/a/../b#c
      messor inspect robots robots.txt https://example.com/private/
      messor inspect rights https://example.com/ --robots robots.txt
      cat urls.jsonl | messor inspect url --jsonl
    """


@inspect.command()
@click.argument("text", required=False)
@click.option("--base", help="Base URL for a relative URL.")
@JSONL
def url(text: str | None, base: str | None, jsonl: bool) -> None:
    """Show a URL's canonical form, hash and domain.

    \b
    Example:
      messor inspect url ../b?utm_source=x --base https://example.com/a/
    """
    _inspect("url", jsonl, {"input": text, "base": base})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.argument("address", required=False)
@click.option(
    "--agent", default=DEFAULT_AGENT, show_default=True, help="Product token of the crawler."
)
@JSONL
def robots(file: Path | None, address: str | None, agent: str, jsonl: bool) -> None:
    """Show whether a robots.txt allows an agent to fetch a URL, and by which rule.

    \b
    Example:
      messor inspect robots robots.txt https://example.com/private/
    """
    text = _read(file).decode("utf-8", "replace") if file else None
    _inspect("robots", jsonl, {"robots_txt": text, "url": address, "user_agent": agent})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--url", "address", help="URL of the sitemap.")
@JSONL
def sitemap(file: Path | None, address: str | None, jsonl: bool) -> None:
    """List the entries of a sitemap: XML, gzip, text, RSS or Atom.

    \b
    Example:
      messor inspect sitemap sitemap.xml.gz
    """
    _inspect("sitemap", jsonl, {"body_b64": _encoded(file), "url": address})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--content-type", help="Content-Type header of the response.")
@JSONL
def encoding(file: Path | None, content_type: str | None, jsonl: bool) -> None:
    """Detect the character encoding of a page.

    \b
    Example:
      messor inspect encoding page.html --content-type "text/html; charset=latin1"
    """
    _inspect("encoding", jsonl, {"body_b64": _encoded(file), "content_type_header": content_type})


@inspect.command()
@click.argument("address", required=False)
@click.option("--dns", multiple=True, help="IP address the host name resolves to; repeatable.")
@JSONL
def address(address: str | None, dns: tuple[str, ...], jsonl: bool) -> None:
    """Show whether the address guard would allow a request.

    \b
    Example:
      messor inspect address http://metadata.example/ --dns 169.254.169.254
    """
    _inspect("address", jsonl, {"url": address, "dns": list(dns)})


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--url", "address", default="https://example.invalid/page", help="URL of the page.")
@click.option("--generic", is_flag=True, help="Do not use site-specific parsers.")
@JSONL
def page(file: Path | None, address: str, generic: bool, jsonl: bool) -> None:
    """Extract a page: main content, type, records with evidence, links, hashes.

    \b
    Example:
      messor inspect page saved.html --url https://example.com/saved
      messor inspect page --generic --jsonl < pages.jsonl
    """
    own: dict[str, Any] = {"generic": True} if generic else {}
    _inspect("page", jsonl, {"body_b64": _encoded(file), "url": address}, own)


@inspect.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.argument("address", required=False)
@click.option("--content-type", help="Content type, for plain text, CSV and mail files.")
@JSONL
def document(file: Path | None, address: str | None, content_type: str | None, jsonl: bool) -> None:
    """Show the text and records of a PDF, office, e-book or mail file.

    It is converted in a sandbox, as in a crawl.

    \b
    Example:
      messor inspect document prices.pdf https://example.com/prices.pdf
      messor inspect document list.csv --content-type text/csv
    """
    given = {"body_b64": _encoded(file), "url": address, "content_type": content_type}
    _inspect("document", jsonl, given)


@inspect.command()
@click.argument("address", required=False)
@click.option("--robots", "robots_txt", type=FILE, help="The site's robots.txt.")
@click.option("--html", "markup", type=FILE, help="The page.")
@click.option(
    "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Response header; repeatable."
)
@click.option("--tdmrep", type=FILE, help="The site's /.well-known/tdmrep.json.")
@click.option("--rsl", "licence", type=FILE, help="An RSL document that the site names.")
@JSONL
def rights(
    address: str | None,
    *,
    robots_txt: Path | None,
    markup: Path | None,
    headers: tuple[str, ...],
    tdmrep: Path | None,
    licence: Path | None,
    jsonl: bool,
) -> None:
    """Show what a site says about the use of a URL, and which statement decides.

    Reads AIPREF, Content-Signal, TDMRep, RSL and robots tags. The most restrictive statement wins;
    the absence of a statement permits nothing, and one that cannot be parsed counts as unknown.

    \b
    Example:
      messor inspect rights https://example.org/a --robots robots.txt --header "Content-Usage: train-ai=n"
    """
    files = {"robots_txt": robots_txt, "html": markup, "tdmrep": tdmrep, "rsl": licence}
    given: dict[str, Any] = {
        name: _read(file).decode("utf-8", "replace") for name, file in files.items() if file
    }
    told: dict[str, list[str]] = {}
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon:
            raise UsageError(f"--header {header[:60]!r} is not of the form NAME:VALUE.")
        told.setdefault(name.strip(), []).append(value.strip())
    _inspect("rights", jsonl, {"url": address, "headers": told, **given})


def _inspect(
    subject: str, jsonl: bool, given: dict[str, Any], always: Mapping[str, Any] | None = None
) -> None:
    """Inspect the given input, or each line of stdin; `always` is merged into all of them."""
    if jsonl:
        _inspect_lines(subject, always or {})
    else:
        print_json(SUBJECTS[subject]({**given, **(always or {})}))


def _inspect_lines(subject: str, always: Mapping[str, Any]) -> None:
    """Print one result per line, in order; an invalid line yields an error object."""
    examine = SUBJECTS[subject]
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        try:
            # Slower than other decoders, but accepts the lone surrogates that scripts send.
            given = json.loads(line)
            if not isinstance(given, dict):
                raise UsageError("each line must be a JSON object")
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
