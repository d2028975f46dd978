"""Opening hours, from structured data and as they stand on a door."""

# ruff: noqa: RUF001 - dashes and letters as pages have them

from __future__ import annotations

from typing import Any

import pytest

from messor.content.hours import DAYS, read_days, read_hours, read_moment
from messor.content.kinds.opening_hours import find
from tests.content.views import found, view

WEEK = list(DAYS[:5])


def hours(opens: str, closes: str) -> list[dict[str, str]]:
    return [{"opens": opens, "closes": closes}]


@pytest.mark.parametrize(
    "text, days, spans",
    [
        ("Mon – Fri: 9am – 5pm", WEEK, hours("09:00", "17:00")),
        ("Montag bis Freitag 8:00–18:00 Uhr", WEEK, hours("08:00", "18:00")),
        ("Lundi au vendredi : 9h00 - 12h30", WEEK, hours("09:00", "12:30")),
        ("lunes a viernes de 9:00 a 14:00", WEEK, hours("09:00", "14:00")),
        ("dal lunedì al venerdì 9.00-13.00", WEEK, hours("09:00", "13:00")),
        ("segunda a sexta 9h às 18h", WEEK, hours("09:00", "18:00")),
        ("Ma t/m vr 9.00 - 17.30 uur", WEEK, hours("09:00", "17:30")),
        ("pon.-pt. 8:00-16:00", WEEK, hours("08:00", "16:00")),
        ("mån–fre 10–18", WEEK, hours("10:00", "18:00")),
        ("ma–pe 9–17", WEEK, hours("09:00", "17:00")),
        ("Пн–Пт 9:00–18:00", WEEK, hours("09:00", "18:00")),
        ("Пн-Вс 9:00-20:00", list(DAYS), hours("09:00", "20:00")),
        ("Mon 1-5pm", ["monday"], hours("13:00", "17:00")),
        ("Samstag geschlossen", ["saturday"], []),
        ("So 10-16 Uhr", ["sunday"], hours("10:00", "16:00")),
        ("Sat to Sun 10am to 4pm", ["saturday", "sunday"], hours("10:00", "16:00")),
        (
            "Fri-Mon 18:00-02:00",
            ["monday", "friday", "saturday", "sunday"],
            hours("18:00", "02:00"),
        ),
        ("täglich 10–22 Uhr", list(DAYS), hours("10:00", "22:00")),
        ("Friday & Saturday: 7 a.m. to midnight", ["friday", "saturday"], hours("07:00", "24:00")),
        ("Sat 12 noon - 5pm", ["saturday"], hours("12:00", "17:00")),
        ("Hétfő - Péntek: 8:00 - 16:00", WEEK, hours("08:00", "16:00")),
        ("月〜金 10:00〜19:00", WEEK, hours("10:00", "19:00")),
        ("월-금 09:00~18:00", WEEK, hours("09:00", "18:00")),
    ],
)
def test_days_and_hours(text: str, days: list[str], spans: Any) -> None:
    assert read_days(text) == days
    assert read_hours(text) == spans


@pytest.mark.parametrize(
    "text", ["9-5", "2019-11-20", "25:00-26:00", "some words", "13pm - 14pm", "8-10pm"]
)
def test_what_are_no_hours(text: str) -> None:
    assert read_hours(text) is None


def test_a_range_that_is_half_understood_says_nothing() -> None:
    assert read_days("Mon-Xyz 9:00-17:00") is None


def test_a_table_of_days() -> None:
    page = view(
        """<h2>Öffnungszeiten</h2><table>
        <tr><td>Montag</td><td>08:00 – 12:00</td></tr>
        <tr><td>Dienstag</td><td>08:00&nbsp;&ndash;&nbsp;12:00<br>14:00–18:00</td></tr>
        <tr><td>Mittwoch</td><td>geschlossen</td></tr></table>""",
        lang="de",
    )
    assert found(find, page) == [
        {"days": ["monday"], "hours": hours("08:00", "12:00")},
        {"days": ["tuesday"], "hours": hours("08:00", "12:00")},
        {"days": ["tuesday"], "hours": hours("14:00", "18:00")},
        {"days": ["wednesday"], "hours": []},
    ]


def test_structured_hours() -> None:
    page = view(
        """<script type="application/ld+json">{"@type": "Restaurant", "name": "Chez Zoé",
        "openingHoursSpecification": [
          {"@type": "OpeningHoursSpecification", "dayOfWeek": ["Monday", "https://schema.org/Tuesday"],
           "opens": "11:30", "closes": "22:00"},
          {"@type": "OpeningHoursSpecification", "dayOfWeek": "Sunday", "opens": "12:00:00", "closes": "15:00"}]}</script>
        <div itemscope itemtype="https://schema.org/Store"><meta itemprop="openingHours" content="Mo-Sa 10:00-19:00"></div>"""
    )
    assert found(find, page) == [
        {"days": ["monday", "tuesday"], "opens": "11:30", "closes": "22:00"},
        {"days": ["sunday"], "opens": "12:00", "closes": "15:00"},
        {"days": list(DAYS[:6]), "hours": hours("10:00", "19:00")},
    ]


def test_a_programme_in_running_text_is_no_opening_hours() -> None:
    page = view(
        "<p>The match on Monday, 20:00-22:00, was watched by many people in the city centre.</p>"
    )
    assert found(find, page) == []


def test_several_statements_in_one_line() -> None:
    page = view("<footer><p>Mon-Fri 7am-6pm | Sat 8am-2pm | Sun closed</p></footer>")
    assert found(find, page) == [
        {"days": WEEK, "hours": hours("07:00", "18:00")},
        {"days": ["saturday"], "hours": hours("08:00", "14:00")},
        {"days": ["sunday"], "hours": []},
    ]


def test_two_spans_of_one_day_stay_together() -> None:
    page = view(
        "<h2>Horaires</h2><p>Lundi : 9h - 12h30 / 14h - 18h, mardi : 9h - 12h</p>", lang="fr"
    )
    assert found(find, page) == [
        {"days": ["monday"], "hours": hours("09:00", "12:30") + hours("14:00", "18:00")},
        {"days": ["tuesday"], "hours": hours("09:00", "12:00")},
    ]


def test_from_midnight_to_midnight_is_closed() -> None:
    page = view(
        "",
        head="""<script type="application/ld+json">{"@type": "Store", "openingHoursSpecification":
        {"@type": "OpeningHoursSpecification", "dayOfWeek": "Sunday", "opens": "00:00",
        "closes": "00:00"}}</script>""",
    )
    assert found(find, page) == [{"days": ["sunday"], "hours": []}]


def test_a_line_of_several_statements_with_accents_is_parted() -> None:
    line = "Segunda a sexta: 8h às 18h | Sábado: 8h às 12h | Domingo: fechado"
    expected = [
        {"days": WEEK, "hours": hours("08:00", "18:00")},
        {"days": ["saturday"], "hours": hours("08:00", "12:00")},
        {"days": ["sunday"], "hours": []},
    ]
    assert found(find, view(f"<h2>Horário</h2><p>{line}</p>", lang="pt-BR")) == expected
    assert found(find, view(f"<p>{line}</p>", lang="pt-BR")) == expected


@pytest.mark.parametrize(
    "text, moment",
    [
        ("Fr., 12. März 2027, 19:30 Uhr", "2027-03-12T19:30:00"),
        ("12.03.2027, 19.30 Uhr", "2027-03-12T19:30:00"),
        ("12.03.2027 ab 19 Uhr", "2027-03-12T19:00:00"),
        ("Viernes 12 de marzo de 2027, 20:30 h", "2027-03-12T20:30:00"),
        ("12 mars 2027 à 20h", "2027-03-12T20:00:00"),
        ("March 12, 2027, 7:30 p.m. – 10 p.m.", "2027-03-12T19:30:00"),
        ("March 12, 2027 at 7pm", "2027-03-12T19:00:00"),
        ("2027-03-12T19:30:00+01:00", "2027-03-12T19:30:00+01:00"),
        ("12. März 2027", "2027-03-12"),
        ("12 March 2027, 25:00", "2027-03-12"),
        ("7pm", None),
    ],
)
def test_moments(text: str, moment: str | None) -> None:
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Call us M-F 8am-9pm EST", [("monday", "friday", "08:00", "21:00")]),
        (
            "Phones: Monday thru Thursday 9am to 6pm PST Friday 8am to 4pm PST",
            [("monday", "thursday", "09:00", "18:00"), ("friday", "friday", "08:00", "16:00")],
        ),
        (
            "We answer from 7:30 am to 5:30 pm Monday - Friday Eastern Standard Time, always.",
            [("monday", "friday", "07:30", "17:30")],
        ),
        (
            "Our service is there 24 hours a day, 7 days a week",
            [("monday", "sunday", "00:00", "24:00")],
        ),
        (
            "van maandag t/m vrijdag tussen 09.30 en 16.30 uur",
            [("monday", "friday", "09:30", "16:30")],
        ),
    ],
)
def test_hours_of_several_days_in_any_text(text: str, expected: list[tuple[str, ...]]) -> None:
    rows = found(find, view(f"<p>{text}</p>"))
    assert [
        (row["days"][0], row["days"][-1], row["hours"][0]["opens"], row["hours"][0]["closes"])
        for row in rows
    ] == expected


def test_days_and_hours_in_two_lines() -> None:
    page = view("<p>Monday - Friday</p><p>8am - 5pm</p>")
    assert [(row["days"][-1], row["hours"]) for row in found(find, page)] == [
        ("friday", [{"opens": "08:00", "closes": "17:00"}])
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Saturday 10:00 - 11:00 Yoga",
        "Monday to Friday everybody met inside the great hall. 12 people came later, at 9:00 - 10:00",
        "2 M - 3 F",
    ],
)
def test_what_is_an_event_or_nothing(text: str) -> None:
    assert found(find, view(f"<p>{text}</p>")) == []
