"""The verification code of docs/webhooks.md, taken from the page, agrees with what Messor signs."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from messor.ops.webhooks.deliver import MAX_CONSECUTIVE_FAILURES, sign
from messor.ops.webhooks.dispatch import ATTEMPTS
from messor.ops.webhooks.post import SECONDS

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text("utf-8")
CODE = dict(re.findall(r"^```(python|javascript|php)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"o" * 32).decode()
BODY = '{"id": "evt_1", "data": {"name": "Kätzchen"}}'

# Each reads cases as JSON from its standard input and prints a list of answers.
CALLS = {
    "python": (
        [sys.executable, "-"],
        (
            "import json\ncases = json.loads({cases!r})\n"
            "print(json.dumps([is_from_messor(c['secret'], c['headers'], c['body'].encode()) for c in cases]))"
        ),
    ),
    "javascript": (
        ["node", "-"],
        (
            "const cases = JSON.parse({cases});\n"
            "console.log(JSON.stringify(cases.map((c) => isFromMessor(c.secret, c.headers, Buffer.from(c.body)))));"
        ),
    ),
    "php": (
        ["php"],
        (
            "$cases = json_decode({cases}, true);\n"
            "echo json_encode(array_map(fn($c) => is_from_messor($c['secret'], $c['headers'], $c['body']), $cases));"
        ),
    ),
}


def cases() -> list[tuple[bool, dict[str, object]]]:
    now = int(time.time())
    good = sign(SECRET, "evt_1", BODY.encode())
    old = sign(SECRET, "evt_1", BODY.encode(), at=now - 301)
    several = {**good, "webhook-signature": f"v1,AAAA v2,BBBB {good['webhook-signature']}"}
    without = {name: value for name, value in good.items() if name != "webhook-signature"}
    found = [
        (True, good, BODY, SECRET),
        (True, several, BODY, SECRET),
        (True, sign(SECRET, "evt_1", BODY.encode(), at=now - 200), BODY, SECRET),
        (False, good, BODY.replace("1", "2"), SECRET),
        (False, good, BODY, OTHER),
        (False, old, BODY, SECRET),
        (False, {**old, "webhook-timestamp": str(now)}, BODY, SECRET),
        (False, {**good, "webhook-id": "evt_2"}, BODY, SECRET),
        (False, without, BODY, SECRET),
        (False, {**good, "webhook-timestamp": "soon"}, BODY, SECRET),
        (False, {}, BODY, SECRET),
    ]
    return [
        (expected, {"headers": headers, "body": body, "secret": secret})
        for expected, headers, body, secret in found
    ]


@pytest.mark.parametrize("language", CALLS)
def test_it_tells_true_deliveries_from_others(language: str) -> None:
    command, call = CALLS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    expected, given = zip(*cases(), strict=True)
    text = json.dumps(given)
    if language == "php":  # single quotes, in which only two characters are special
        text = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    elif language == "javascript":
        text = json.dumps(text)
    script = (
        CODE[language]
        + "\n"
        + (call.format(cases=text) if language == "python" else call.replace("{cases}", text))
    )
    script = f"<?php\n{script}" if language == "php" else script
    done = subprocess.run(
        command, input=script, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == list(expected)


def test_the_page_says_how_often_it_is_tried_and_how_long() -> None:
    flat = " ".join(PAGE.split())
    assert f"within {SECONDS:.0f} seconds" in flat
    assert f"{ATTEMPTS} times" in flat
    assert f"{MAX_CONSECUTIVE_FAILURES} failures in a row" in flat
