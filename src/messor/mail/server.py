"""The mail server: an operator's endpoint, named by the settings and by nothing else.

Sending blocks, so callers run it in a thread. Errors say whether another attempt can help.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self

from pydantic import SecretStr

from messor.core.masking import mask_text
from messor.errors import MessorError, UsageError
from messor.fetch.tls import verifying_context
from messor.settings import Settings
from messor.web.addresses import is_never_connected

SECONDS = 30.0
PORTS = {"starttls": 587, "tls": 465, "none": 25}
# One address, nothing that a header or a command of SMTP could be made of.
_ADDRESS = re.compile(r"[^\s@<>(),;:\\\"\[\]]{1,64}@[^\s@<>(),;:\\\"\[\]]{1,253}")


class MailError(MessorError):
    """The server was not reached or did not take a mail."""

    code = "mail"

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


def is_address(text: str) -> bool:
    """Whether a text is a mail address that can be written to."""
    return _ADDRESS.fullmatch(text) is not None and text.isprintable()


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in, and as whom."""

    host: str
    port: int
    tls: Literal["starttls", "tls", "none"]
    sender: str
    user: str | None = None
    password: SecretStr | None = None
    ca_file: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The configured server; None if there is none."""
        if not settings.mail_host:
            return None
        sender = settings.mail_from or ""
        if not is_address(parseaddr(sender)[1]):
            raise UsageError(
                "Mail needs a sender: set MESSOR_MAIL_FROM to an address such as messor@example.org."
            )
        if settings.mail_user and settings.mail_tls == "none":
            raise UsageError(
                "The mail password would be sent in the clear: set MESSOR_MAIL_TLS to starttls or tls."
            )
        return cls(
            settings.mail_host,
            settings.mail_port or PORTS[settings.mail_tls],
            settings.mail_tls,
            sender,
            settings.mail_user,
            settings.mail_password,
            settings.ca_file,
        )

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def sender_domain(self) -> str:
        return parseaddr(self.sender)[1].rpartition("@")[2]

    def check(self) -> None:
        """Connect and log in, and send nothing."""
        with _answering(self.place), self._session() as session:
            session.noop()

    def send(self, message: EmailMessage) -> None:
        """Hand one mail in."""
        with _answering(self.place), self._session() as session:
            session.send_message(message)

    @contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        # Its own name is stated, since the default is looked up in the DNS.
        name = self.sender_domain
        if self.tls == "tls":
            context = verifying_context(self.ca_file)
            session: smtplib.SMTP = _TlsSession(
                self.host, self.port, name, timeout=SECONDS, context=context
            )
        else:
            session = _PlainSession(self.host, self.port, name, timeout=SECONDS)
        with session:
            if self.tls == "starttls":
                session.starttls(context=verifying_context(self.ca_file))
            if self.user:
                secret = self.password.get_secret_value() if self.password else ""
                session.login(self.user, secret)
            yield session


def _connect(host: str, port: int, timeout: float) -> socket.socket:
    """Connect to the address that was checked, never to a link-local or metadata one."""
    failure: OSError | None = None
    for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        address = str(info[4][0]).partition("%")[0]
        if is_never_connected(ip_address(address)):
            raise MailError(f"{host} has the address {address}, which is never used.")
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as error:
            failure = error
    raise failure or OSError("it has no address")


class _PlainSession(smtplib.SMTP):
    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return _connect(host, port, timeout)


class _TlsSession(smtplib.SMTP_SSL):
    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self.context.wrap_socket(_connect(host, port, timeout), server_hostname=host)


@contextmanager
def _answering(place: str) -> Iterator[None]:
    """Translate errors of the protocol and the network."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        code, said = next(iter(error.recipients.values()))
        raise MailError(
            f"{place} refused the recipient: {code} {_words(said)}", retryable=code < 500
        ) from error
    except smtplib.SMTPAuthenticationError as error:
        raise MailError(
            f"{place} refused the login: {error.smtp_code} {_words(error.smtp_error)}. "
            "Correct MESSOR_MAIL_USER and MESSOR_MAIL_PASSWORD."
        ) from error
    except smtplib.SMTPNotSupportedError as error:
        raise MailError(f"{place} cannot do this: {error}. Check MESSOR_MAIL_TLS.") from error
    except smtplib.SMTPResponseException as error:
        raise MailError(
            f"{place} answered {error.smtp_code} {_words(error.smtp_error)}",
            retryable=error.smtp_code < 500,
        ) from error
    except ssl.SSLError as error:
        raise MailError(
            f"TLS with {place} failed: {error.reason}. Check MESSOR_MAIL_TLS and MESSOR_CA_FILE."
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise MailError(f"{place} cannot be reached: {mask_text(str(reason))}") from error


def _words(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return mask_text(" ".join(text.split())[:300])
