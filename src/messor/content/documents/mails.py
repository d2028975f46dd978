"""Mail files (EML) as HTML: sender, subject, date, the message, and the names of what is attached."""

from __future__ import annotations

import email
from email.message import EmailMessage
from email.policy import default

from messor.content.documents import markup
from messor.content.documents.errors import DocumentError

_SHOWN = ("From", "To", "Cc", "Date")


def to_html(body: bytes) -> str:
    """Convert a message; of its versions the plain text is read, else the HTML."""
    message = email.message_from_bytes(body, EmailMessage, policy=default)
    if not message.keys():
        raise DocumentError("The mail file has no headers.")
    subject = str(message.get("Subject", ""))
    facts = [[name, str(message[name])] for name in _SHOWN if message[name]]
    attached = [
        part.get_filename() or part.get_content_type() for part in message.iter_attachments()
    ]
    parts = [markup.element("h1", markup.text(subject)), markup.table(facts), _content(message)]
    if attached:
        items = "".join(markup.element("li", markup.text(name)) for name in attached)
        parts += [markup.element("h2", "Attachments"), markup.element("ul", items)]
    return markup.page(subject, parts, author=str(message.get("From", "")))


def _content(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, UnicodeDecodeError, KeyError):
        content = part.get_payload(decode=True)
        content = content.decode("latin-1") if isinstance(content, bytes) else ""
    if not isinstance(content, str):
        return ""
    is_html = part.get_content_type() == "text/html"
    return markup.element("div", content) if is_html else markup.paragraphs(content)
