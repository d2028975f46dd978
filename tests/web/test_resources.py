"""Hostile documents cost little memory; measured in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import resource, sys, time
from messor.web.robots import Robots
from messor.web import sitemaps
from messor.web import html
import gzip, itertools, zlib
def rss(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def peak():
    lines = open('/proc/self/status').read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) / 1024
{prepare}
before, started = rss(), time.process_time()
{act}
print(rss() - before, time.process_time() - started, peak())
"""

REFUSED = """
try:
    html.read_page(body, 'https://a.example/')
except html.TooComplexError:
    pass
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
    "50,001 URLs": (
        "body = b'<urlset>' + b'<url><loc>https://a.example/page</loc></url>' * 50_001",
        "assert len(sitemaps.read(body).urls) == 50_000",
        40,
        3,
    ),
    "100,000 nested divs": (
        "body = '<div>' * 100_000",
        REFUSED,
        200,
        5,
    ),
    "a text of 50 MB": ("body = '<p>' + 'a' * 50_000_000", REFUSED, 200, 5),
    "a tag of 1 M attributes": (
        "body = '<p ' + ' '.join(f'a{n}=1' for n in range(1_000_000)) + '>'",
        REFUSED,
        450,
        5,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_documents_are_bounded(name: str) -> None:
    prepare, act, megabytes, seconds = CASES[name]
    script = MEASURE.format(prepare=prepare, act=act)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    grown, spent, _ = map(float, done.stdout.split())
    assert grown <= megabytes
    assert spent <= seconds * 20  # of the processor; what grows out of bounds takes far more


STREAMS = {
    "60 MB": """
reader = sitemaps.SitemapReader()
reader.feed(b'<urlset>')
for _ in range(60):
    reader.feed(b'<url><loc>https://a.example/page</loc>' + b' ' * 1_000_000 + b'</url>')
assert reader.is_done and 'larger than 50 MiB' in reader.close().warnings[0]
""",
    "a gz bomb of 500 MB": """
packer = zlib.compressobj(9, wbits=31)
bomb = packer.compress(b'<urlset><url><loc>https://a.example/</loc></url>')
zeros = bytes(1 << 20)
bomb += b''.join(packer.compress(zeros) for _ in range(500)) + packer.flush()
assert len(sitemaps.read(bomb).urls) == 1
""",
    "one comment of 40 MB": """
reader = sitemaps.SitemapReader()
reader.feed(b'<urlset><!--')
for _ in range(40_000):
    reader.feed(b'<' * 1_000)
reader.feed(b'--><url><loc>https://a.example/</loc></url>')
assert len(reader.close().urls) == 1
""",
    "an index of 10 M URLs": """
index = sitemaps.read(b'<sitemapindex>' + b''.join(
    b'<sitemap><loc>https://a.example/%d.xml</loc></sitemap>' % n for n in range(200)))
heights = []
for n, (url, _) in enumerate(index.sitemaps[:4]):
    reader = sitemaps.SitemapReader(url=url)
    reader.feed(b'<urlset>')
    for part in range(100):
        reader.feed(b''.join(
            b'<url><loc>/%d/%d/%d</loc></url>' % (n, part, at) for at in range(500)))
    assert len(reader.close().urls) == 50_000
    heights.append(peak())
assert len(index.sitemaps) == 200
assert heights[-1] - heights[1] < 4, heights
""",
}


@pytest.mark.parametrize("name", STREAMS)
def test_sitemaps_are_read_within_150_mb(name: str) -> None:
    script = MEASURE.format(prepare="", act=STREAMS[name])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[2]) <= 150
