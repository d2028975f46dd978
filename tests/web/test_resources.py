"""Hostile documents cost little memory; measured in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import resource, sys, time
from messor.web.robots import Robots
from messor.web import sitemaps
import gzip
def rss(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
{prepare}
before, started = rss(), time.process_time()
{act}
print(rss() - before, time.process_time() - started)
"""

CASES = {
    "robots of 50 MB": (
        "body = b'User-agent: *\\nDisallow: /' + b'a' * 50_000_000",
        "assert Robots.parse(body).check('x', 'http://a.example/b').allowed in (True, False)",
        8,
        1,
    ),
    "robots of 600 KiB of rules": (
        "body = b'User-agent: *\\n' + b'Disallow: /a*b\\n' * 41_000",
        "Robots.parse(body).check('x', 'http://a.example/b')",
        40,
        1,
    ),
    "billion laughs": (
        """
names = 'abcdefghijklm'
laughs = ''.join(f'<!ENTITY {n} "{f"&{o};" * 10}">' for o, n in zip(names, names[1:]))
body = f'<!DOCTYPE l [<!ENTITY a "ha">{laughs}]><urlset><url><loc>&m;</loc></url></urlset>'.encode()
""",
        "assert sitemaps.read(body).urls == []",
        20,
        0.1,
    ),
    "gz bomb as a sitemap": (
        "body = gzip.compress(b'<urlset>' + b' ' * 400_000_000, 1)",
        "sitemaps.read(body)",
        150,
        3,
    ),
    "60,000 URLs": (
        "body = b'<urlset>' + b'<url><loc>https://a.example/page</loc></url>' * 60_000",
        "assert len(sitemaps.read(body).urls) == 50_000",
        150,
        3,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_documents_are_bounded(name: str) -> None:
    prepare, act, megabytes, seconds = CASES[name]
    script = MEASURE.format(prepare=prepare, act=act)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    grown, spent = map(float, done.stdout.split())
    assert grown <= megabytes
    assert spent <= seconds * 3  # room for a busy machine
