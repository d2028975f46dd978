"""A site of a food bank, from which workflow 1 has to bring flags and records: for the tests of every door."""

from __future__ import annotations

from simweb.answers import SimResponse
from tests.little_web import Room, robots

SITE = "foodbank.test"
HELP = (
    "Our food bank helps families and pensioners in crisis: free food parcels, warm meals and housing advice, "
    "a service of volunteers for anyone in need of help and support. "
)
FILM = "The film is a novel about a casino. Buy now: luxury for sale, price list, salary, franchise and lyrics. "
MENU = '<nav><a href="/programs/food-pantry">Pantry</a> <a href="/volunteer">Volunteer</a> <a href="/film">Film</a></nav>'

VERTICAL = "community_resources"
FLAGS = {"/": True, "/programs/food-pantry": True, "/volunteer": True, "/film": False}
# Kind and name of what the site's pages state.
RECORDS = {
    ("service", "Food Pantry"),
    ("opportunity", "Food sorter"),
    ("opportunity", "Driver"),
    ("opening_hours", "tuesday, thursday"),
}


def _page(title: str, body: str) -> SimResponse:
    html = (
        f'<!doctype html><html lang="en"><head><title>{title}</title></head><body>{MENU}'
        f"<main><h1>{title}</h1>{body}</main></body></html>"
    )
    return SimResponse(200, (("Content-Type", "text/html; charset=utf-8"),), html.encode())


ROOMS: dict[str, Room] = {
    "/robots.txt": robots("User-agent: *\nAllow: /\n"),
    "/": _page("Food bank of the county", f"<p>{HELP * 3}</p>"),
    "/programs/food-pantry": _page(
        "Food Pantry", f"<p>{HELP * 2}</p><p>Tuesday and Thursday from 10am to 2pm</p>"
    ),
    "/volunteer": _page(
        "Volunteer with us",
        f"""<p>{HELP}</p><h2>Food sorter</h2><p>Sort donated food on Saturday mornings at our warehouse.</p>
        <h2>Driver</h2><p>Deliver meals to seniors on weekdays, about two hours a week.</p>
        <p><a href="/signup">Sign up to volunteer</a></p>""",
    ),
    "/film": _page("A film", f"<p>{FILM * 4}</p>"),
}
