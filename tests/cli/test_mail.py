"""`messor mail test` and the doctor, with a real mail server."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Messor
from tests.smtp_server import SENDER, receiving

ADA = "ada@example.org"


def test_the_command_and_doctor_check_the_server(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = messor("mail", "test", ADA)
    assert (unset.code, "MESSOR_MAIL_HOST" in unset.err) == (2, True)
    with receiving() as box:
        given = {"HOST": box.host, "PORT": str(box.port), "TLS": "none", "FROM": SENDER}
        for name, value in given.items():
            monkeypatch.setenv(f"MESSOR_MAIL_{name}", value)
        assert "took the test mail to ada@example.org" in messor("mail", "test", ADA).err
        assert [(to, subject) for to, subject, _ in box.texts] == [(ADA, "Messor can send mail")]
        assert messor("mail", "test", "Ada").code == 2
        box.answers = ["550 unknown"]
        refused = messor("mail", "test", ADA)
        assert (refused.code, "refused the recipient: 550 unknown" in refused.err) == (1, True)
        checks = {check["name"]: check for check in messor("doctor", "--json").json}
        assert checks["mail"]["state"] == "ok"
        assert "is reachable" in checks["mail"]["found"]
        assert len(box.mails) == 1, "the doctor sends nothing"
    checks = {check["name"]: check for check in messor("doctor", "--json").json}
    assert (checks["mail"]["state"], "cannot be reached" in checks["mail"]["found"]) == (
        "bad",
        True,
    )
