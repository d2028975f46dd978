"""What can go wrong at a service before the site was heard, each with a sentence and what follows.

The next provider may still succeed. Whether a fault speaks of the service or of the page decides
whether other pages still go there: a 500 is how a service reports a page it could not render.
"""

from __future__ import annotations

from typing import Any

from messor.fetch.retry_after import parse_retry_after
from messor.fetch.services.answer import ServiceResponse

HOUR = 3600.0
_SAID_AT_MOST = 200


class ProviderFaultError(Exception):
    """The service failed us; caught where the provider turns it into an outcome."""

    def __init__(
        self,
        sentence: str,
        *,
        hold: float = 0.0,
        charged: bool = False,
        of_the_page: bool = False,
        doubtful: bool = False,
        slow_down: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hold = hold  # seconds for which the service must be left alone, at once
        self.charged = charged  # the service may have done the work, and counted it
        self.of_the_page = of_the_page  # says nothing about how the service fares
        self.doubtful = doubtful  # of this page, unless pages of many domains end the same way
        self.slow_down = (
            slow_down  # the service asks every worker to wait, `hold` seconds if it says
        )


def fault_of_status(title: str, answer: ServiceResponse) -> ProviderFaultError:
    """The fault behind an answer that is not 200."""
    status = answer.status
    said = said_by(answer.value)
    because = f": {said}" if said else "."
    hold = parse_retry_after(answer.headers.get("Retry-After")) or 0.0
    match status:
        case 401:
            fault = ProviderFaultError(f"{title} refuses our API key{because}", hold=HOUR)
        case 402:
            fault = ProviderFaultError(f"{title} has no credits left{because}", hold=HOUR)
        case 413:
            sentence = f"{title} finds the request too large{because}"
            fault = ProviderFaultError(sentence, of_the_page=True)
        case 429:
            sentence = f"{title} asks us to slow down{because}"
            fault = ProviderFaultError(sentence, hold=hold, slow_down=True)
        case 500:
            fault = ProviderFaultError(f"{title} failed with 500{because}", doubtful=True)
        case 503 if hold:
            sentence = f"{title} failed with 503{because}"
            fault = ProviderFaultError(sentence, hold=hold, slow_down=True)
        case _ if 300 <= status < 400:
            fault = ProviderFaultError(f"{title} redirects elsewhere: set its final address.")
        case _ if status >= 500:
            fault = ProviderFaultError(f"{title} failed with {status}{because}", hold=hold)
        case _:
            sentence = f"{title} does not accept the request ({status}){because}"
            fault = ProviderFaultError(sentence)
    return fault


def said_by(value: Any) -> str:
    """What an error answer says for people, in one bounded line."""
    if not isinstance(value, dict):
        return ""
    for key in ("error", "detail", "message", "error_message"):
        if (said := _text(value.get(key))) != "":
            return said
    return ""


def one_line(text: str) -> str:
    """Text of unknown origin, fit for a log: printable, one line, bounded."""
    flat = " ".join(text[: 4 * _SAID_AT_MOST].split())
    return "".join(c if c.isprintable() else "?" for c in flat)[:_SAID_AT_MOST]


def _text(said: Any) -> str:
    if isinstance(said, str):
        return one_line(said)
    if isinstance(said, dict):
        return _text(said.get("message") or said.get("error"))
    if isinstance(said, list) and said and isinstance(said[0], dict):
        where = said[0].get("loc")
        place = ".".join(str(part) for part in where[:6]) if isinstance(where, list) else ""
        return one_line(f"{place} {said[0].get('msg', '')}")
    return ""
