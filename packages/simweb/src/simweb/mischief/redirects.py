"""Redirects: within a host, to a sibling host, to another domain, and in circles."""

from __future__ import annotations

from simweb.answers import Request, SimResponse, redirect
from simweb.mischief.flaw import Flaw, Links, always, page, routes

_HOPS = {
    "/old": ("hop-1", 308),  # a relative target
    "/hop-1": ("/hop-2", 301),
    "/hop-2": ("/hop-3", 302),
    "/hop-3": ("/hop-4?kept=1", 307),
    "/hop-4": ("/new", 303),
}


def flaws() -> list[Flaw]:
    sibling_links: Links = (("/", "Home"), ("/inside", "Inside"))
    sibling = always(page("Home is at www", ("The short name leads here.",), sibling_links))
    return [
        Flaw("redirect-chain.test", "redirect-chain", _within_host, 2),
        Flaw("redirect-to-www.test", "redirect-same-domain", _to_sibling, 1),
        Flaw(
            "www.redirect-to-www.test",
            "redirect-target",
            routes({"/": sibling, "/inside": sibling}),
            2,
        ),
        Flaw("redirect-elsewhere.test", "redirect-other-domain", _elsewhere, 1),
        Flaw("redirect-loop.test", "redirect-loop", _in_circles, 1),
    ]


def _within_host(request: Request) -> SimResponse:
    """/old takes five hops, one of each status, to /new; everything else works."""
    if request.route in _HOPS:
        return redirect(*_HOPS[request.route])
    links: Links = (("/old", "The old address"), ("/new", "The new address"))
    return page("Moved within the house", ("The old address still leads here.",), links)


def _to_sibling(request: Request) -> SimResponse:
    return redirect(f"http://www.redirect-to-www.test{request.path}", 301)


def _elsewhere(request: Request) -> SimResponse:
    if request.route == "/":
        links: Links = (("/go", "Our new owner"), ("/nowhere", "A host that does not exist"))
        return page("We were bought", ("Most of it moved to another domain.",), links)
    if request.route == "/nowhere":
        return redirect("http://no-such-host.test/")
    return redirect("http://town-links.test/", 301)


def _in_circles(request: Request) -> SimResponse:
    """Two pages that redirect to each other, one to itself, and an endless chain."""
    if request.route == "/":
        links: Links = (("/left", "Left"), ("/self", "Self"), ("/deeper/1", "Deeper"))
        return page("A house of mirrors", ("Every door leads to a door.",), links)
    if request.route.startswith("/deeper/"):
        level = request.route.rpartition("/")[2]
        return redirect(f"/deeper/{int(level) + 1 if level.isdecimal() else 1}")
    return redirect({"/left": "/right", "/right": "/left"}.get(request.route, request.route))
