"""`messor why`: the decisions and facts behind a URL."""

from __future__ import annotations

import click

from messor.cli.actors import Names, names_in, with_names
from messor.cli.output import emit, json_option, print_json, run
from messor.explain.why import Explanation, explain
from messor.settings import Settings
from messor.store.session import open_session

SYMBOLS = {"yes": "✓", "no": "✗", "later": "…", "fact": "·"}


@click.command()
@click.argument("url")
@json_option
def why(url: str, as_json: bool) -> None:
    """Explain what happened, or would happen, to a URL.

    \b
    Example:
      messor why https://example.org/private/report.html
    """
    explanation, names = run(_explain(url))
    if as_json:
        print_json(explanation)
    else:
        print_explanation(explanation, names)


async def _explain(url: str) -> tuple[Explanation, Names]:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        explanation = await explain(session.database, settings, url)
        sentences = (fact.sentence for fact in explanation.facts)
        return explanation, await names_in(session.database, sentences)


def print_explanation(explanation: Explanation, names: Names) -> None:
    emit(f"{explanation.url}: {explanation.verdict}")
    for fact in explanation.facts:
        emit(f"  {SYMBOLS[fact.says]} {fact.step:9} {with_names(fact.sentence, names)}")
