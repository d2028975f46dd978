"""Faults of a service before the site responded, each with a message and its consequences.

The next provider may still succeed. Whether a fault concerns the service or the page decides
whether other pages still go there: a 500 is how a service reports a page it could not render.
"""

from __future__ import annotations

from typing import Any

from messor.fetch.retry_after import parse_retry_after
from messor.fetch.services.answer import ServiceResponse

HOUR = 3600.0
_SAID_AT_MOST = 200


class ProviderFaultError(Exception):
    """The service failed; caught where the provider turns it into an outcome."""

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
        self.hold = hold  # seconds for which the service must be paused, at once
        self.charged = charged  # the service may have done the work and charged for it
        self.of_the_page = of_the_page  # says nothing about the health of the service
        self.doubtful = (
            doubtful  # concerns this page, unless pages of many domains fail the same way
        )
        self.slow_down = (
            slow_down  # the service asks every worker to wait, for `hold` seconds if given
        )


def fault_of_status(title: str, answer: ServiceResponse) -> ProviderFaultError:
    """The fault behind a response that is not 200."""
    status = answer.status
    message = said_by(answer.value)
    because = f": {message}" if message else "."
    hold = parse_retry_after(answer.headers.get("Retry-After")) or 0.0
    match status:
        case 401:
            fault = ProviderFaultError(f"{title} rejects our API key{because}", hold=HOUR)
        case 402:
            fault = ProviderFaultError(f"{title} has no credits left{because}", hold=HOUR)
        case 413:
            sentence = f"{title} rejects the request as too large{because}"
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
            fault = ProviderFaultError(f"{title} redirects: set its address to the final URL.")
        case _ if status >= 500:
            fault = ProviderFaultError(f"{title} failed with {status}{because}", hold=hold)
        case _:
            sentence = f"{title} rejects the request ({status}){because}"
            fault = ProviderFaultError(sentence)
    return fault


def said_by(value: Any) -> str:
    """The message of an error response, as one bounded line."""
    if not isinstance(value, dict):
        return ""
    for key in ("error", "detail", "message", "error_message"):
        if (message := _text(value.get(key))) != "":
            return message
    return ""


def one_line(text: str) -> str:
    """Text of unknown origin, safe for a log: printable, one line, bounded."""
    flat = " ".join(text[: 4 * _SAID_AT_MOST].split())
    return "".join(c if c.isprintable() else "?" for c in flat)[:_SAID_AT_MOST]


def _text(message: Any) -> str:
    if isinstance(message, str):
        return one_line(message)
    if isinstance(message, dict):
        return _text(message.get("message") or message.get("error"))
    if isinstance(message, list) and message and isinstance(message[0], dict):
        where = message[0].get("loc")
        place = ".".join(str(part) for part in where[:6]) if isinstance(where, list) else ""
        return one_line(f"{place} {message[0].get('msg', '')}")
    return ""
