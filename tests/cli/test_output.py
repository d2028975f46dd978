"""What strangers wrote is shown to people, and never obeyed by their terminal."""

from __future__ import annotations

import pytest

from messor.cli.output import emit, print_json, print_table, say

TITLE = "Kettle\x1b]0;mine\x07\x9b2J\u202e \r\nไทย\tend"
SHOWN = "Kettle\ufffd]0;mine\ufffd\ufffd2J\ufffd \nไทย\tend"


def test_what_a_terminal_would_obey_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    emit("x", bold=TITLE)
    emit(TITLE)
    print_table(("name",), [(TITLE,)])
    say(TITLE)
    out, err = capsys.readouterr()
    assert out == f"{SHOWN}x\n{SHOWN}\nNAME\n{SHOWN}\n"
    assert err == f"{SHOWN}\n"


def test_json_has_it_all(capsys: pytest.CaptureFixture[str]) -> None:
    print_json("a\x1b\u202e")
    assert capsys.readouterr().out == '"a\\u001b\u202e"\n'
