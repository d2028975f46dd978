"""`messor mail`: check the mail server."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from messor.core.ids import new_id
from messor.core.terminal import say
from messor.errors import UsageError
from messor.mail.message import message_of
from messor.mail.outbox import Mail
from messor.mail.server import MailServer, is_address
from messor.settings import Settings

SUBJECT = "Messor can send mail"
BODY = "This is a test of the mail settings of Messor. No action is needed.\n"


@click.group()
def mail() -> None:
    """Check the mail server used for notices to submitters.

    \b
    Example:
      messor mail test you@example.org
    """


@mail.command()
@click.argument("address")
def test(address: str) -> None:
    """Send a test mail to ADDRESS at once.

    \b
    Example:
      messor mail test you@example.org
    """
    server = MailServer.of(Settings())
    if server is None:
        raise UsageError("No mail server is configured: set MESSOR_MAIL_HOST and MESSOR_MAIL_FROM.")
    if not is_address(address):
        raise UsageError(f"{address[:100]!r} is not a mail address such as you@example.org.")
    now = datetime.now(UTC)
    sent = Mail(new_id(), "test", address, SUBJECT, BODY, "queued", None, now, None)
    server.send(message_of(server, sent))
    say(f"{server.place} took the test mail to {address}.")
