"""A mail as it travels: plain text, the same as simple HTML, and headers that say who and what."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape

from messor.mail.outbox import Mail
from messor.mail.server import MailServer

_URL = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;)]")


def message_of(server: MailServer, mail: Mail) -> EmailMessage:
    """The message; its id stays the same in every attempt, so that a duplicate is recognised."""
    message = EmailMessage()
    message["From"] = server.sender
    message["To"] = mail.recipient
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.created_at)
    message["Message-ID"] = f"<{mail.id}@{server.sender_domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.body)
    message.add_alternative(as_html(mail.body), subtype="html")
    return message


def as_html(text: str) -> str:
    """Paragraphs and links of a plain text; everything else is escaped."""
    paragraphs = "".join(f"<p>{_linked(part)}</p>" for part in re.split(r"\n{2,}", text.strip()))
    return f"<!doctype html><html><body>{paragraphs}</body></html>"


def _linked(text: str) -> str:
    parts, last = [], 0
    for match in _URL.finditer(text):
        url = escape(match[0])
        parts += [escape(text[last : match.start()]), f'<a href="{url}">{url}</a>']
        last = match.end()
    return "".join((*parts, escape(text[last:]))).replace("\n", "<br>")
