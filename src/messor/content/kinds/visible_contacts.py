"""Contacts in visible text and in mailto: and tel: links.

Details close together on the page are one contact. A name or role is taken only from the line above
a matching e-mail address or number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from messor.content import phones
from messor.content.abroad import closed_address, closing_country
from messor.content.dates import fold
from messor.content.emails import VEIL, emails, has_hidden_text, read_email
from messor.content.evidence import EvidencedField, Passage
from messor.content.kinds.build import GUESSED, LINKED, VISIBLE, make
from messor.content.kinds.line_hints import EMAIL, PHONE, PLACE, page_hints
from messor.content.lines import Line, LineNumbers
from messor.content.page_type import page_type
from messor.content.places import addresses_at, country_of
from messor.content.postal import Address, Part
from messor.content.records import Record
from messor.content.view import PageView

KIND = "contact"
MAX_CONTACTS = 200
_ELSEWHERE = ("http", "/", "#")  # how nearly all links start
_GAP = 6  # lines between the parts of one contact
_MAX_LINE = 400
_MAX_CLOSING = 60  # characters of a line that ends with a country

_ADDRESS = ("street", "postal_code", "locality", "region")
# Page types on which an unlabelled number is the site's own.
_OWN = frozenset(("contact", "about", "legal", "home"))
_NAME = re.compile(
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Herr|Frau|M|Mme|Ing|Dipl|Mag|Sig|Sra?)\.?\s+){0,3}"
    r"[^\W\d_a-z][\w'\u2019.-]{1,20}(?:\s+(?:von|van|de|der|den|di|da|del|la|le|zu|af|av)){0,2}"
    r"(?:\s+[^\W\d_a-z][\w'\u2019.-]{0,20}){1,3}(?:,?\s+(?:M\.?Sc\.?|Ph\.?D\.?|M\.?D\.?|MBA|B\.?A\.?))?"
)
_JOINED = re.compile(r"(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bDi)(?<!\bLe)(?<!\bO')[a-z][A-Z]")
# Mailboxes that are not a person's.
_MAILBOXES = """
    info contact kontakt feedback support help sales office mail hello press presse team service
    partners partner news newsletter admin webmaster marketing jobs career careers editor editorial
    advertising billing privacy datenschutz bestellung shop order orders reservation booking
    reception praxis buero post hallo bonjour contacto contatti secretariat sekretariat media events
    """
_EVERYBODY = frozenset(_MAILBOXES.split())
_ROLE = re.compile(
    r"(?<!\w)(?:ceo|cto|cfo|coo|founder|co-founder|director|manager|managing|head of|president|chair|"
    r"secretary|officer|coordinator|consultant|partner|owner|physician|doctor|dentist|therapist|"
    r"engineer|assistant|advisor|sales|marketing|editor|teacher|lawyer|attorney|geschaftsfuhrer(?:in)?|"
    r"inhaber(?:in)?|leiter(?:in)?|leitung|leitender|vorstand|arzt|arztin|zahnarzt|assistenz|"
    r"ansprechpartner(?:in)?|mitarbeiter(?:in)?|referent(?:in)?|directeur|directrice|gerant|"
    r"responsable|president|fondateur|director[ae]?|gerente|jefe|direttore|direttrice|titolare|"
    r"responsabile|diretor|directeur|eigenaar|medewerker|kierownik|prezes|dyrektor|vd|chef|"
    r"toimitusjohtaja|reditel|jednatel|mudur|директор|руководитель|менеджер)(?!\w)"
)


@dataclass(slots=True)
class _Group:
    """Fields close together on the page."""

    last: int
    fields: dict[str, EvidencedField] = field(default_factory=dict)
    named: int | None = None  # line number of a person's name


@dataclass(slots=True)
class _Find:
    line: int
    name: str
    value: EvidencedField


def visible_contacts(page: PageView) -> list[Record | None]:
    """Return the contacts, grouped by position."""
    finds = sorted(_finds(page), key=lambda each: each.line)
    groups: list[_Group] = []
    for each in finds[: 4 * MAX_CONTACTS]:
        group = groups[-1] if groups else None
        known = group.fields.get(each.name) if group else None
        if known is not None and known.value == each.value.value:
            continue
        named = each.name == "name" and group is not None and bool(group.fields)
        if (
            group is None
            or named
            or known is not None
            or each.line - group.last > _GAP
            or (each.name == "street" and not _is_of(page, group, each.line))
        ):
            group = _Group(each.line)
            groups.append(group)
        if each.name == "name":
            group.named = each.line
        group.fields[each.name] = each.value
        group.last = each.line
    return [
        make(KIND, group.fields) for group in groups if not group.fields.keys() <= {"name", "role"}
    ]


def _is_of(page: PageView, group: _Group, line: int) -> bool:
    """Whether an address may belong to a group: a person's is in the element with the name."""
    if group.named is None:
        return True
    around = page.lines[group.named].element.parent
    return around is None or around in page.lines[line].element.ancestors


def _finds(page: PageView) -> list[_Find]:
    found: list[_Find] = []
    country = country_of(page)
    known = _linked(page, country, found)
    if VEIL in page.source.text:
        _read_obfuscated(page, known, found)
    tries = 0
    hinted = [
        (line, hints) for line, hints in zip(page.lines, page_hints(page), strict=True) if hints
    ]
    for line, hints in hinted:
        if len(line.text) <= _MAX_LINE and tries < 4 * MAX_CONTACTS:
            if hints & EMAIL:
                tries += _read_emails(page, line, known, found)
            if hints & PHONE:
                tries += _read_phones(page, line, country, known, found)
    _read_addresses(page, [line for line, hints in hinted if hints & PLACE], found)
    _read_names(page, found)
    return found


def _linked(page: PageView, country: str | None, found: list[_Find]) -> set[str]:
    """Read mailto: and tel: links; returns the values found."""
    known: set[str] = set()
    lines = LineNumbers(page.lines)
    for anchor, href in page.links:
        if href.startswith(_ELSEWHERE):
            continue
        kind = href[:7].strip().lower()
        if kind.startswith("mailto:"):
            name, normaliser = "email", "email"
        elif kind.startswith("tel:"):
            name, normaliser = "phone", "phone"
        else:
            continue
        passage = page.attribute(anchor, "href")
        value = passage.field(normaliser, LINKED)
        if value is None and name == "phone" and country:
            value = passage.field(phones.normaliser(country), VISIBLE)
        if value is not None and len(found) < 2 * MAX_CONTACTS:
            known.add(str(value.value))
            found.append(_Find(lines.of(anchor), name, value))
    return known


def _read_obfuscated(page: PageView, known: set[str], found: list[_Find]) -> None:
    """Read e-mail addresses that a script decodes for visitors."""
    lines = LineNumbers(page.lines)
    veiled = page.document.select(f'[data-cfemail], a[href*="{VEIL}#"]')
    for element in veiled[: 2 * MAX_CONTACTS]:
        own = "href" if element.attr("data-cfemail") is None else "data-cfemail"
        value = page.attribute(element, own).field("veiled_email", LINKED)
        if value is not None and value.value not in known:
            known.add(str(value.value))
            found.append(_Find(lines.of(element), "email", value))


def _read_emails(page: PageView, line: Line, known: set[str], found: list[_Find]) -> int:
    tries = 0
    for address, written in emails(line.text):
        tries += 1
        if address in known:
            continue
        passage = page.passage(line, written)
        kind = "shown_email" if has_hidden_text(passage.quote) else "email"
        value = passage.field(kind, VISIBLE if "@" in written else GUESSED)
        if value is not None:
            known.add(address)
            found.append(_Find(line.number, "email", value))
    return tries


def _read_phones(
    page: PageView, line: Line, country: str | None, known: set[str], found: list[_Find]
) -> int:
    tries = 0
    for written, called in phones.numbers(line.walled):
        tries += 1
        name = called or (_announced(page, line) if line.text.startswith(written[:4]) else "")
        number, region = _parsed(written, country)
        if number is None and not name:
            continue
        if number is not None and not (name or phones.is_telling(written)):
            continue
        if number is not None and number in known and name != "fax":
            continue
        passage = page.passage(line, written)
        if number is not None:
            value = passage.field(phones.normaliser(region), VISIBLE if name else GUESSED)
            if value is not None:
                known.add(number)
                found.append(_Find(line.number, name or "phone", value))
        elif name == "phone":
            text = passage.field("text", GUESSED)
            if text is not None:
                found.append(_Find(line.number, "phone_text", text))
    return tries


def _parsed(written: str, country: str | None) -> tuple[str | None, str | None]:
    """Return a number, and the country by whose rules it was parsed unless it names its own."""
    if phones.names_country(written) and (number := phones.read_phone(written)) is not None:
        return number, None
    for region in (country, "US" if phones.is_american(written) else None):
        number = phones.read_phone(written, region) if region else None
        if number is not None:
            return number, region
    return None, None


def _announced(page: PageView, line: Line) -> str:
    """Return what the line above labels a number, or the page does if the number is alone."""
    label = phones.is_label(page.lines[line.number - 1].text) if line.number else ""
    if not label and phones.is_alone(line.text) and page_type(page).name in _OWN:
        return "phone"
    return label


def _read_addresses(page: PageView, placed: list[Line], found: list[_Find]) -> None:
    made = [each for line in placed for each in addresses_at(page.lines, line.number)]
    made += _read_closed(page, {number for each in made for number in _numbers(each)})
    taken = {number for each in made if each.locality is not None for number in _numbers(each)}
    kept = (each for each in made if each.locality is not None or taken.isdisjoint(_numbers(each)))
    for address in islice(kept, MAX_CONTACTS):
        parts = {name: getattr(address, name) for name in _ADDRESS}
        at = min(part.line.number for part in parts.values() if part is not None)
        for name, part in parts.items():
            value = None if part is None else _quoted(page, part).field("text", VISIBLE)
            if value is not None:
                found.append(_Find(at, name, value))


def _read_closed(page: PageView, taken: set[int]) -> list[Address]:
    """Return the addresses that a country's name closes, of streets that were not read already."""
    known = page.memory.memo(closing_country)
    found = [
        closed_address(page.lines, number, name)
        for number, text in enumerate(page.visible_lines.texts)
        if len(text) <= _MAX_CLOSING and (name := known[text])
    ]
    return [each for each in found if each is not None and taken.isdisjoint(_numbers(each))]


def _numbers(address: Address) -> range:
    """Return the numbers of the lines that hold an address's street."""
    if address.street is None:
        return range(0)
    first = address.street.line.number
    return range(first, (address.street.last or address.street.line).number + 1)


def _quoted(page: PageView, part: Part) -> Passage:
    """Return a part of an address as a passage."""
    if part.last is None:
        return page.passage(part.line, part.text)
    begin, end = part.line.span(page.source)[0], part.last.span(page.source)[1]
    return Passage("html", page.source.quote(part.text, begin, end), part.line.element.tag)


def _read_names(page: PageView, found: list[_Find]) -> None:
    """Read names above an address or number: those the e-mail address repeats, or with a role."""
    taken: set[int] = set()
    for each in [find for find in found if find.name in ("email", "phone")]:
        above = page.lines[max(0, each.line - 4) : each.line + 1]
        for line in reversed(above):
            if line.number in taken or not _is_name(line.text):
                continue
            role = _role(page, line)
            if not (_repeats(each.value, line.text) or role is not None):
                continue
            value = page.passage(line).field("text", VISIBLE)
            if value is not None:
                taken.add(line.number)
                found.append(_Find(line.number, "name", value))
            if (
                role is not None
                and (value := page.passage(role).field("text", GUESSED)) is not None
            ):
                found.append(_Find(line.number, "role", value))
            break


def _is_name(text: str) -> bool:
    if len(text) > 60 or not _NAME.fullmatch(text):
        return False
    return not (_JOINED.search(text) or _ROLE.search(fold(text)))


def _repeats(value: EvidencedField, name: str) -> bool:
    """Whether an e-mail address contains a part of a name."""
    local = fold(str(value.value).partition("@")[0])
    parts = [part for part in re.split(r"[\s.]+", fold(name)) if len(part) > 2]
    if local in _EVERYBODY or read_email(str(value.value)) is None:
        return False
    return any(part in local for part in parts)


def _role(page: PageView, line: Line) -> Line | None:
    """Return the line below a name that states a role."""
    for below in page.lines[line.number + 1 : line.number + 2]:
        if len(below.text) <= 80 and "@" not in below.text and _ROLE.search(fold(below.text)):
            return below
    return None
