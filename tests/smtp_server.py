"""A real SMTP server on loopback that keeps what it is given; it may ask for TLS and a login."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword

from messor.settings import Settings

USER, PASSWORD = "messor", "open sesame"
SENDER = "Messor <messor@mail.example>"


@dataclass
class Postbox:
    """What arrived, and what the server answers to recipients from now on."""

    host: str = "127.0.0.1"
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    async def handle_RCPT(
        self, server: SMTP, session: Any, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        answer = self.answers.pop(0) if self.answers else "250 OK"
        if answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(message_from_bytes(content, policy=policy.default))
        return "250 taken"

    @property
    def texts(self) -> list[tuple[str, str, str]]:
        """Recipient, subject and plain text of each mail."""
        return [(mail["To"], mail["Subject"], plain(mail)) for mail in self.mails]

    def settings(self, settings: Settings | None = None, **changed: Any) -> Settings:
        """Settings that send mail here."""
        given = {
            "mail_host": self.host,
            "mail_port": self.port,
            "mail_tls": "none",
            "mail_from": SENDER,
            **changed,
        }
        return (settings or Settings()).model_copy(update=given)


def plain(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


class _Port0(Controller):
    """Listens on a free port from the start."""

    def _trigger_server(self) -> None:
        sockets = self.server.sockets  # type: ignore[union-attr]  # made by `_create_server`
        self.port = sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def receiving(
    *, tls: ssl.SSLContext | None = None, implicit: bool = False, login: bool = False
) -> Iterator[Postbox]:
    """Serve in a thread while the context is open."""
    box = Postbox()

    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        known = LoginPassword(USER.encode(), PASSWORD.encode())
        return AuthResult(success=given == known, handled=False)

    options: dict[str, Any] = {"authenticator": check, "auth_required": login and not implicit}
    if tls is not None and not implicit:
        options |= {"tls_context": tls, "require_starttls": True}
    else:
        options["auth_require_tls"] = False
    context = tls if implicit else None
    controller = _Port0(box, hostname=box.host, port=0, ssl_context=context, **options)
    controller.start()
    box.port = controller.port
    try:
        yield box
    finally:
        controller.stop()
