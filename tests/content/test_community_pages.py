"""Plain pages of community sites: programs, volunteer roles, lists of businesses, opening hours."""

from __future__ import annotations

import pytest

from messor.content.kinds import opening_hours, opportunity, organisation, service
from tests.content.views import found, view

PANTRY = """<nav><a href="/">Home</a></nav><main><h1>Food Pantry</h1>
<p>Our food pantry gives free groceries to families who need help putting food on the table.</p>
<p>Tuesday and Thursday from 10am to 2pm</p><h2>Who can come</h2><p>Anyone who lives in the county. No papers
are needed.</p></main>"""
PROGRAMS = """<main><h1>{heading}</h1><h2>Food Pantry</h2><p>Free groceries for families, every week of the year.</p>
<h2>Housing Help</h2><p>We help people find a home and pay the first month of rent.</p>
<h2>Contact us</h2><p>Call us on any weekday or write to us at any time.</p></main>"""
ROLES = """<main><h1>Volunteer with us</h1><p>We could not do our work without people like you.</p>
<h2>Food sorter</h2><p>Sort donated food on Saturday mornings at our warehouse.</p>
<h2>Driver</h2><p>Deliver meals to seniors on weekdays, about two hours a week.</p>
<p><a href="/signup">{join}</a></p></main>"""
CARDS = """<main><h1>Local businesses</h1><div><h3>Joe's Bakery</h3><p>12 Main Street, St Paul</p>
<p>+1 651 222 3050</p></div><div><h3>Green Cleaners</h3><p>40 Oak Avenue, St Paul</p></div>
<div><h3>Lotus Kitchen</h3><p>7 River Road, St Paul</p></div>{more}</main>"""


@pytest.mark.parametrize("folder", ["programs", "services", "get-help", "our-programs"])
def test_a_page_about_one_program_is_a_service(folder: str) -> None:
    page = view(PANTRY, f"https://hope.org/{folder}/food-pantry")
    (one,) = found(service.find, page)
    assert one["name"] == "Food Pantry"
    assert one["description"].startswith("Our food pantry gives free groceries")


@pytest.mark.parametrize("folder", ["news", "blog/2026", "shop"])
def test_the_same_page_elsewhere_is_none(folder: str) -> None:
    assert found(service.find, view(PANTRY, f"https://hope.org/{folder}/food-pantry")) == []


@pytest.mark.parametrize("heading", ["Our Programs", "How we help", "Community Resources"])
def test_a_page_of_programs_lists_services(heading: str) -> None:
    page = view(PROGRAMS.format(heading=heading), "https://hope.org/about-our-work")
    assert [each["name"] for each in found(service.find, page)] == ["Food Pantry", "Housing Help"]


def test_a_page_for_volunteers_lists_opportunities() -> None:
    page = view(ROLES.format(join="Sign up to volunteer"), "https://hope.org/volunteer")
    roles = found(opportunity.find, page)
    assert [(each["title"], each["type"], each["url"]) for each in roles] == [
        ("Food sorter", "volunteering", "/signup"),
        ("Driver", "volunteering", "/signup"),
    ]
    assert roles[0]["description"].startswith("Sort donated food")


def test_without_a_way_to_join_there_is_no_opportunity() -> None:
    assert found(opportunity.find, view(ROLES.format(join="Read more"))) == []


def test_a_page_about_one_role_is_an_opportunity() -> None:
    page = view(
        """<h1>Volunteer drivers</h1><p>Deliver meals to seniors on weekdays, two hours a week.</p>
        <a href="/join">Register</a>"""
    )
    (role,) = found(opportunity.find, page)
    assert (role["title"], role["type"], role["url"]) == (
        "Volunteer drivers",
        "volunteering",
        "/join",
    )


def test_a_directory_lists_businesses() -> None:
    page = view(CARDS.format(more=""), "https://chamber.org/directory")
    assert found(organisation.find, page) == [
        {"name": "Joe's Bakery", "phone": "+16512223050", "street": "12 Main Street"},
        {"name": "Green Cleaners", "street": "40 Oak Avenue"},
        {"name": "Lotus Kitchen", "street": "7 River Road"},
    ]


def test_a_plain_list_of_businesses() -> None:
    page = view(
        """<h1>Shops in town</h1><ul><li>Joe's Bakery, 12 Main Street</li>
        <li>Green Cleaners \u2013 40 Oak Avenue</li><li>Lotus Kitchen: +1 651 222 3050</li>
        <li>Opening times vary.</li></ul>"""
    )
    names = [each["name"] for each in found(organisation.find, page)]
    assert names == ["Joe's Bakery", "Green Cleaners", "Lotus Kitchen"]


def test_two_are_no_list_and_other_pages_are_no_directory() -> None:
    two = CARDS.replace("<div><h3>Lotus Kitchen</h3><p>7 River Road, St Paul</p></div>", "")
    assert (
        found(organisation.find, view(two.format(more=""), "https://chamber.org/directory")) == []
    )
    offices = CARDS.replace("Local businesses", "Where to find us").format(more="")
    assert found(organisation.find, view(offices, "https://chamber.org/visit")) == []


@pytest.mark.parametrize(
    "text, days, opens, closes",
    [
        ("Monday to Friday 9am - 5pm", 5, "09:00", "17:00"),
        ("Tuesday and Thursday from 10am to 2pm", 2, "10:00", "14:00"),
        ("Open Mondays and Wednesdays from 9:00 to 12:30", 2, "09:00", "12:30"),
    ],
)
def test_one_line_of_hours_for_several_days_is_enough(
    text: str, days: int, opens: str, closes: str
) -> None:
    (one,) = found(opening_hours.find, view(f"<h1>Visit us</h1><p>Come and see.</p><p>{text}</p>"))
    assert len(one["days"]) == days
    assert one["hours"] == [{"opens": opens, "closes": closes}]


def test_what_hours_do_not_say_is_not_stated() -> None:
    page = view(
        """<h1>Visit us</h1><p>Open Mon-Fri 8:30am-4:30pm, Weds until 7pm, closed Sundays and holidays.</p>
        <ul><li>Mondays, Wednesdays & Fridays: 9:00 AM - 12:30 PM</li><li>Tuesday: closed</li>
        <li>First Saturday of the month: 10-12</li><li>Second and fourth Thursday: 1pm - 3pm</li></ul>"""
    )
    stated = [(each["days"], each["hours"]) for each in found(opening_hours.find, page)]
    weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"]
    assert stated == [
        (weekdays, [{"opens": "08:30", "closes": "16:30"}]),
        (weekdays[::2], [{"opens": "09:00", "closes": "12:30"}]),
        (["tuesday"], []),
    ]


def test_hours_of_a_single_day_may_be_an_event() -> None:
    assert found(opening_hours.find, view("<h1>Open day</h1><p>Saturday 10am - 4pm</p>")) == []
