"""What strangers wrote is shown to people, and never obeyed by their terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from messor.cli.output import emit, emit_json, print_json, print_table
from messor.core.terminal import say

TITLE = "Kettle\x1b]0;mine\x07\x9b2J\u202e \r\nไทย\tend"
SHOWN = "Kettle\ufffd]0;mine\ufffd\ufffd2J\ufffd \nไทย\tend"


def test_what_a_terminal_would_obey_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    emit("x", bold=TITLE)
    emit(TITLE)
    print_table(("name",), [(TITLE,)])
    say(TITLE)
    out, err = capsys.readouterr()
    row = SHOWN.replace(" \n", " ").replace("\t", " ")  # a cell stays one line
    assert out == f"{SHOWN}x\n{SHOWN}\nNAME\n{row}\n"
    assert err == f"{SHOWN}\n"


EVERY_CONTROL = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
DIRECTIONS = "\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\U000e0041"


@pytest.mark.parametrize("prints", [print_json, emit_json])
def test_json_escapes_what_a_terminal_obeys_and_says_the_same(
    prints: Callable[[Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    value = {"title": f"é ไทย 🫖{EVERY_CONTROL}{DIRECTIONS}", f"key\x9b{DIRECTIONS}": ["\x85"]}
    prints(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert "\\u0085" in out
    assert "é ไทย 🫖" in out  # letters stay as they are
    assert not set(out.replace("\n", "")) & set(EVERY_CONTROL + DIRECTIONS)


def test_log_lines_and_tracebacks_are_cleaned(capfd: pytest.CaptureFixture[str]) -> None:
    code = (
        "import logging\nfrom messor.core.terminal import guard_terminal\nguard_terminal()\n"
        "logging.getLogger('x').warning('said \x9b2J\x1b[31m')\nraise ValueError('\x9b2J\x1b[1m')"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    err = capfd.readouterr().err
    assert "said \ufffd2J\ufffd[31m" in err
    assert "ValueError: \ufffd2J" in err
    assert not {"\x9b", "\x1b"} & set(err)


@pytest.mark.parametrize(
    "call", [("domains", "show", "nowhere\x9b2J.example\x1b[31m"), ("nothing\x9b2J\x1b[31m",)]
)
def test_errors_that_repeat_what_was_pasted_are_cleaned(
    call: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "messor", *call],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MESSOR_DATA_DIR": str(tmp_path), "PYTHONUTF8": "1"},
    )
    assert done.returncode
    assert done.stderr.strip()
    assert not {"\x9b", "\x1b"} & set(done.stderr + done.stdout)
