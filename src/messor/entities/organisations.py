"""Organisations across sites, by a shared VAT number, phone, mail address, site or address beside the name."""

from __future__ import annotations

from collections.abc import Iterable

from messor.entities.match import (
    EntityKind,
    Features,
    Match,
    Reading,
    SourceRecord,
    conflict,
    differ,
    shared,
)
from messor.entities.places import place_of
from messor.entities.words import letters_of, words_of
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

LEGAL_FORMS = frozenset(
    [
        "gmbh",
        "ggmbh",
        "ag",
        "ug",
        "kg",
        "ohg",
        "ev",
        "ek",
        "se",
        "mbh",
        "ltd",
        "limited",
        "llc",
        "inc",
        "incorporated",
        "corp",
        "corporation",
        "plc",
        "sas",
        "sarl",
        "sa",
        "srl",
        "spa",
        "sl",
        "slu",
        "bv",
        "nv",
        "sro",
        "as",
        "ab",
        "aps",
        "oy",
        "oyj",
        "lda",
        "kft",
        "doo",
        "co",
        "company",
    ]
)
EMPTY = frozenset(
    ("the", "and", "of", "a", "an", "der", "die", "das", "und", "la", "le", "les", "et", "de", "y")
)
# Where anybody can have an address: it names nobody.
SHARED_HOSTS = frozenset(
    ["gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "yahoo.com", "icloud.com", "aol.com", "gmx.de", "gmx.net", "gmx.ch", "web.de", "t-online.de", "orange.fr", "free.fr", "wanadoo.fr", "laposte.net", "libero.it", "bluewin.ch", "proton.me", "protonmail.com", "facebook.com", "instagram.com", "linkedin.com", "twitter.com", "x.com", "youtube.com", "tiktok.com", "google.com", "linktr.ee", "wordpress.com", "blogspot.com", "wixsite.com", "github.io"]
)  # fmt: skip
# Fields that tell an organisation from others of its name, and how much sharing one says.
_TELLING = (("vat", 0.98, "VAT number"), ("phone", 0.95, "phone"), ("email", 0.94, "mail address"),
            ("site", 0.93, "site"), ("place", 0.93, "address"))  # fmt: skip


def read(source: SourceRecord) -> Reading | None:
    name = _name(source.text("name"))
    if not name:
        return None
    locality = letters_of(source.text("postal_code") or source.text("locality"))
    own = _site(source.text("url"))
    email = source.text("email").lower()
    features = {
        "name": {name, _name(source.text("legal_name"))} - {""},
        "vat": {letters_of(source.text("vat_id"))} - {""},
        "phone": {_digits(source.text("phone"))} - {""},
        "email": {email} if email and email.rpartition("@")[2] not in SHARED_HOSTS else set(),
        "site": {own, _mail_site(email)} - {""},
        "place": {place_of(source)} - {""},
        "locality": {locality} - {""},
        "domain": {source.domain},
    }
    return Reading(f"{name}|{locality}", features)


def _name(text: str) -> str:
    """The words of a name without its legal form, in alphabetical order."""
    return " ".join(sorted(words_of(text.replace(".", "")) - LEGAL_FORMS - EMPTY))


def _digits(phone: str) -> str:
    """The end of a number, which is the same with and without its prefixes."""
    digits = "".join(filter(str.isdigit, phone))
    return digits[-8:] if len(digits) >= 6 else ""


def _site(url: str) -> str:
    found = parse(url) if url else None
    return _own(registrable_domain(found.host) if found else None)


def _mail_site(email: str) -> str:
    return _own(registrable_domain(email.rpartition("@")[2]) if "@" in email else None)


def _own(domain: str | None) -> str:
    return domain if domain and domain not in SHARED_HOSTS else ""


def keys(features: Features) -> Iterable[str]:
    for name, _, _ in _TELLING:
        yield from (f"{name}:{each}" for each in features[name])
    yield from (f"name:{each}" for each in features["name"])
    yield from (
        f"site:{each}" for each in features["domain"]
    )  # what names it as its site may be on others


def compare(one: Features, other: Features) -> Match | None:
    if differ(one, other, "vat"):
        return conflict("different VAT numbers")
    likeness = max(_likeness(a, b) for a in one["name"] for b in other["name"])
    if likeness < 0.5:
        return None
    for name, score, words in _TELLING:
        both = shared(one, other, name)
        if both:
            return _weighed(one, other, name, Match(score, name, f"the same {words}"), likeness)
    if one["site"] & other["domain"] or other["site"] & one["domain"]:
        return _weighed(one, other, "site", Match(0.93, "own site", "its own site"), likeness)
    return _by_name(one, other, likeness)


def _weighed(one: Features, other: Features, name: str, match: Match, likeness: float) -> Match:
    """Branches of one firm share a site and mail address: where their addresses differ, a person decides."""
    if likeness < 1 and name != "vat":
        score = match.score - 0.02 if likeness >= 0.66 else 0.75
        return Match(score, f"{name}, similar name", f"{match.basis}, similar names")
    if name in ("site", "email") and differ(one, other, "locality"):
        return Match(0.75, f"{name}, other place", f"{match.basis}, other places")
    return match


def _by_name(one: Features, other: Features, likeness: float) -> Match | None:
    if likeness < 1:
        return None
    if differ(one, other, "locality"):
        return conflict("the same name in another place")
    if shared(one, other, "domain"):
        return Match(0.95, "name on site", "the same name on one site")
    if shared(one, other, "locality"):
        return Match(0.92, "name and place", "the same name and place")
    longest = max(len(each.split()) for each in one["name"])
    return Match(0.7, "name", "the same name") if longest >= 2 else None


def _likeness(one: str, other: str) -> float:
    """1 for the same words; else the share of the shorter name's words in the longer, if there are two."""
    mine, theirs = set(one.split()), set(other.split())
    if mine == theirs:
        return 1.0
    short, long = sorted((mine, theirs), key=len)
    if len(short) < 2:
        return 0.66 if short and short < long and len(next(iter(short))) >= 5 else 0.0
    return min(len(short & long) / len(short), 0.9) if len(short & long) >= 2 else 0.0


ORGANISATION = EntityKind(
    name="organisation",
    label="Organisation",
    plural="Organisations",
    sources=frozenset(("organisation",)),
    read=read,
    keys=keys,
    compare=compare,
    title="name",
    fields=(
        "name", "legal_name", "description", "url", "email", "phone", "street", "postal_code", "locality",
        "region", "country", "vat_id", "logo", "founded", "price_range",
    ),
)  # fmt: skip
