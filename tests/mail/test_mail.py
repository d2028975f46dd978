"""Mail to a real SMTP server: encryption, login, the outbox, retries and refusals."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from messor.core.ids import new_id
from messor.errors import UsageError
from messor.jobs.handlers import Handlers
from messor.jobs.outcomes import Backoff
from messor.jobs.runner import Runner, RunnerLimits
from messor.mail import deliver, outbox
from messor.mail.message import as_html, message_of
from messor.mail.outbox import Mail, NewMail
from messor.mail.server import MailError, MailServer, is_address
from messor.settings import Settings
from messor.store.database import Database
from simweb.certificates import Authority
from tests.smtp_server import PASSWORD, SENDER, USER, plain, receiving

FAST = RunnerLimits(poll_seconds=0.01, backoff=Backoff(0.001, 0.01))
ADA = "ada@example.org"


def mail_to(recipient: str = ADA, body: str = "Hello,\n\nsee https://a.org/x?a=1&b=2.\n") -> Mail:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    return Mail(new_id(), "test", recipient, "News of a.org", body, "queued", None, now, None)


async def work(settings: Settings, database: Database) -> None:
    """Deliver until nothing is queued."""
    handlers = Handlers()
    deliver.register(handlers, settings, database)
    runner = Runner(database, handlers, "mail", FAST)
    running = asyncio.create_task(runner.run())
    async with asyncio.timeout(60):
        while await database.fetchval(  # noqa: ASYNC110 - a database has no event
            "SELECT EXISTS (SELECT FROM messor.jobs WHERE state IN ('queued', 'running'))"
        ):
            await asyncio.sleep(0.01)
    runner.stop()
    await running


async def post(database: Database, recipient: str = ADA, *, is_on: bool = True) -> UUID:
    async with database.transaction() as connection:
        new = NewMail("domain_approved", recipient, "a.org\nwas approved", "It was.\n")
        return (await outbox.post(connection, new, is_on=is_on)).id


async def state(database: Database, mail_id: UUID) -> tuple[str, str | None]:
    row = await database.fetchrow(
        "SELECT state, last_error FROM messor.mails WHERE id = $1", mail_id
    )
    assert row is not None
    return row["state"], row["last_error"]


@pytest.mark.parametrize("mode", ["starttls", "tls"])
def test_the_login_goes_through_tls_with_a_certificate_that_is_checked(
    mode: str, tmp_path: Path
) -> None:
    authority = Authority()
    context = authority.context(["localhost"], tmp_path)
    trusted = tmp_path / "ca.pem"
    authority.write(trusted)
    with receiving(tls=context, implicit=mode == "tls", login=True) as box:
        box.host = "localhost"
        login: dict[str, Any] = {"mail_tls": mode, "mail_user": USER, "ca_file": trusted}
        good = MailServer.of(box.settings(mail_password=SecretStr(PASSWORD), **login))
        assert good is not None
        good.check()
        good.send(message_of(good, mail_to()))
        (got,) = box.mails
        assert (got["From"], got["To"], got["Auto-Submitted"]) == (SENDER, ADA, "auto-generated")
        wrong = MailServer.of(box.settings(mail_password=SecretStr("no"), **login))
        assert wrong is not None
        with pytest.raises(MailError, match="refused the login: 535"):
            wrong.check()
        strange = MailServer.of(box.settings(**{**login, "ca_file": None}))
        assert strange is not None
        with pytest.raises(MailError, match="TLS with localhost"):
            strange.check()
        assert len(box.mails) == 1


def test_settings_that_cannot_work_are_refused() -> None:
    assert MailServer.of(Settings()) is None
    with pytest.raises(UsageError, match="set MESSOR_MAIL_FROM"):
        MailServer.of(Settings(mail_host="mail.example"))
    with pytest.raises(UsageError, match="in the clear"):
        MailServer.of(
            Settings(mail_host="m", mail_from=SENDER, mail_tls="none", mail_user="messor")
        )
    ports = {
        mode: server.port
        for mode in ("starttls", "tls", "none")
        if (server := MailServer.of(Settings(mail_host="m", mail_from=SENDER, mail_tls=mode)))
    }
    assert ports == {"starttls": 587, "tls": 465, "none": 25}


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]".strip("[]")])
def test_a_link_local_address_is_never_connected(host: str) -> None:
    server = MailServer.of(Settings(mail_host=host, mail_from=SENDER, mail_tls="none"))
    assert server is not None
    with pytest.raises(MailError, match="never used"):
        server.check()


def test_a_message_is_plain_text_and_the_same_as_html() -> None:
    server = MailServer("m", 25, "none", SENDER)
    mail = mail_to(body="<b>Hello</b>,\n\nsee https://a.org/x?a=1&b=2.\n")
    message = message_of(server, mail)
    assert message["Message-ID"] == f"<{mail.id}@mail.example>"
    assert message["Date"] == "Fri, 01 May 2026 12:00:00 +0000"
    assert plain(message) == mail.body
    assert as_html(mail.body) == (
        "<!doctype html><html><body><p>&lt;b&gt;Hello&lt;/b&gt;,</p><p>see "
        '<a href="https://a.org/x?a=1&amp;b=2">https://a.org/x?a=1&amp;b=2</a>.</p></body></html>'
    )


@pytest.mark.parametrize(
    "text, good",
    [
        (ADA, True),
        ("ådä@exämple.org", True),
        ("https://a.org/contact", False),
        ("a@b.org\nBcc: c@d.org", False),
        ("a@b.org, c@d.org", False),
        ("Ada <a@b.org>", False),
        ("", False),
    ],
)
def test_only_one_address_is_written_to(text: str, *, good: bool) -> None:
    assert is_address(text) is good


async def test_the_outbox_is_delivered_retried_and_given_up(database: Database) -> None:
    with receiving() as box:
        taken = await post(database)
        box.answers = ["451 try later", "450 again"]
        await work(box.settings(), database)
        assert await state(database, taken) == ("sent", None)
        ((to, subject, text),) = box.texts
        assert (to, subject, text) == (ADA, "a.org was approved", "It was.\n")
        attempts = await database.fetchval("SELECT attempts FROM messor.jobs")
        assert attempts == 3

        refused = await post(database, "gone@example.org")
        box.answers = ["550 no such user"]
        await work(box.settings(), database)
        said, why = await state(database, refused)
        assert (said, "550 no such user" in str(why)) == ("failed", True)

        assert outbox.ATTEMPTS == 12
        box.answers = ["451 try later"] * outbox.ATTEMPTS
        late = await post(database, "late@example.org")
        await work(box.settings(), database)
        assert (await state(database, late))[0] == "failed"
        assert box.answers == []
        by_hand = await post(database, is_on=False)
        no_address = await post(database, "https://a.org/contact")
        await work(box.settings(), database)
        assert len(box.mails) == 1
    for mail_id in (by_hand, no_address):
        assert await state(database, mail_id) == ("manual", None)
    rows = await database.fetch(
        "SELECT type, data ->> 'kind' AS kind, data FROM messor.events WHERE type LIKE 'mail.%' ORDER BY id"
    )
    assert [(row["type"], row["kind"]) for row in rows] == [
        ("mail.sent", "domain_approved"),
        ("mail.failed", "domain_approved"),
        ("mail.failed", "domain_approved"),
    ]
    logged = await database.fetch("SELECT payload::text AS payload FROM messor.jobs")
    assert not any("@" in row["payload"] for row in logged), "addresses stay in the outbox"


async def test_mails_are_forgotten_after_a_while(database: Database) -> None:
    old, new = await post(database, is_on=False), await post(database, is_on=False)
    await database.fetch(
        "UPDATE messor.mails SET created_at = messor.clock() - interval '91 days' WHERE id = $1",
        old,
    )
    async with database.transaction() as connection:
        assert await outbox.forget_old(connection, 10) == 1
    assert await database.fetchval("SELECT id FROM messor.mails") == new
