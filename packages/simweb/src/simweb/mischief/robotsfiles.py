"""Hosts with valid pages and an odd robots.txt: failing, missing, HTML, redirected."""

from __future__ import annotations

from simweb.answers import Request, SimResponse, plain, redirect
from simweb.mischief.flaw import Flaw, Handler, always, page, small_site

_PAGES = 4
_RULES = "/rules/robots.txt"


def flaws(seed: int) -> list[Flaw]:
    failing = plain(500, "Something broke.\n")
    missing = plain(404, "There is no such page.\n")
    in_html = page("Welcome", ("This server answers everything with a page.",))
    redirected = redirect(_RULES, 301)
    kinds = {
        "robots-500": failing,
        "robots-missing": missing,
        "robots-html": in_html,
        "robots-redirect": redirected,
    }
    return [
        Flaw(f"{kind}.test", kind, _pages(seed, f"{kind}.test"), _PAGES, robots=always(robots))
        for kind, robots in kinds.items()
    ]


def _pages(seed: int, host: str) -> Handler:
    """Valid pages, and the rules that a redirected robots.txt ends at."""
    site = small_site(seed, host)
    rules = plain(200, "User-agent: *\nDisallow: /three\n")

    def handle(request: Request) -> SimResponse:
        return rules if request.route == _RULES else site(request)

    return handle
