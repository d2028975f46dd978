"""What goes with every answer, and what the templates must not contain."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from yarl import URL

import messor.console
from messor.access.members import Member
from messor.access.roles import Role
from tests.console.conftest import PASSWORD, Enter, Visitor

Joined = Callable[..., Awaitable[Member]]

HOUSE = Path(messor.console.__file__).parent
TEMPLATES = sorted((HOUSE / "templates").rglob("*.html"))


@pytest.mark.parametrize("path", ["/", "/login", "/nothing", "/static/console.css", "/live"])
async def test_every_answer_is_dressed(admin: Visitor, path: str) -> None:
    async with admin.session.get(f"{admin.base}{path}", allow_redirects=False) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "style-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["X-Request-Id"]
        assert "Strict-Transport-Security" not in answer.headers


async def test_pages_are_not_kept_and_files_are(admin: Visitor) -> None:
    page = await admin.get("/domains")
    assert page.headers["Cache-Control"] == "no-store"
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(addresses) >= 7
    for address in addresses:
        answer = await admin.get(address)
        assert answer.status == 200, address
        assert "immutable" in answer.headers["Cache-Control"], address


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"],
)
async def test_files_elsewhere_are_not_served(admin: Visitor, path: str) -> None:
    async with admin.session.get(URL(f"{admin.base}{path}", encoded=True)) as answer:
        assert answer.status == 404


async def test_cookies_are_closed_to_scripts_and_other_sites(
    console: str, enter: Enter, joined: Joined
) -> None:
    await joined(Role.ADMIN)
    visitor = await enter(console)
    answer = await visitor.send(
        "/login", "/login", {"email": "admin@example.org", "password": PASSWORD}
    )
    cookies = answer.headers.getall("Set-Cookie")
    session = next(one for one in cookies if one.startswith("messor_session="))
    assert "HttpOnly" in session
    assert "samesite=lax" in session.lower()
    assert "secure" not in session.lower()


async def test_over_https_cookies_are_secure(console: str, enter: Enter) -> None:
    visitor = await enter(console)
    answer = await visitor.get("/login", **{"X-Forwarded-Proto": "https"})
    cookie = next(one for one in answer.headers.getall("Set-Cookie") if "visitor" in one)
    assert cookie.startswith("__Host-messor_visitor=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    assert answer.headers["Strict-Transport-Security"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_escape_everything(template: Path) -> None:
    """No filter or tag switches escaping off, and nothing inline needs a hole in the policy."""
    text = template.read_text("utf-8")
    assert not re.search(r"\|\s*(safe|forceescape)|autoescape|Markup", text)
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|javascript:", text)
    assert not re.search(r"\son[a-z]+=", text)
    for name in re.findall(r"\s[\w-]+=\{\{", text):
        pytest.fail(f"an attribute without quotes: {name}")


def test_templates_stay_small() -> None:
    for template in TEMPLATES:
        assert len(template.read_text("utf-8").splitlines()) <= 150, template
