"""The cast of a market: each site's name, domain, place, trade and pages, drawn from the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simweb.chance import Draw, draw
from simweb.items import slug
from simweb.market.grammar import Grammar
from simweb.market.script import Role, Script, Spot, Words

_TITLES = (
    *("{page} | {name}", "{page} - {name}", "{page} · {name}", "{page} \u2013 {name}"),
    *("{page} | {name}", "{page} in {town} | {name}", "{name} | {page}", "{name}: {page}"),
)
_HOME_TITLES = (
    *("{name} | {tagline}", "{tagline} | {name}", "{name} \u2013 {tagline}", "{name}, {town}"),
    *("{name}", "Home | {name}", "{name} - {tagline}"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """The subject of one page of a site, and the search term it covers."""

    name: str
    subject: str

    @property
    def called(self) -> str:
        return lowered(self.name)


@dataclass(frozen=True, slots=True)
class Player:
    """One site of a market, fixed before its pages are written."""

    host: str
    domain: str
    name: str
    role: Role
    spot: Spot
    words: Words
    items: tuple[Item, ...]
    title: str  # the pattern of its titles
    home_title: str
    schema: str  # of its home page; empty if it states nothing

    def settled(self) -> dict[str, str]:
        """What its sentences may not draw again."""
        spot = self.spot
        return {
            "name": self.name,
            "town": spot.town,
            "region": spot.region,
            "country": spot.country,
        }


class Casting:
    """Draws the players of a market."""

    def __init__(self, script: Script, seed: int) -> None:
        self._script = script
        self._seed = seed
        self._taken: set[str] = set()
        self._subjects = script.subjects()

    def players(self) -> list[Player]:
        return [
            player
            for place, role in enumerate(self._script.roles)
            for player in self._play(place, role)
        ]

    def _play(self, place: int, role: Role) -> Iterator[Player]:
        names = (self._seed, self._script.name, place)
        for number in range(draw(*names, "count").randint(*role.count)):
            yield self._player(role, draw(*names, number))

    def _player(self, role: Role, rng: Draw) -> Player:
        spot = rng.choice(self._spots(role))
        words = self._words(role, rng)
        settled = {"town": spot.town, "region": spot.region, "country": spot.country}
        name, domain = self._named(role, rng, words, settled)
        items = self._items(role, rng, words, {**settled, "name": name})
        is_stated = bool(role.schema) and rng.random() < 0.65
        return Player(
            f"www.{domain}" if rng.random() < 0.3 else domain,
            domain,
            name,
            role,
            spot,
            words,
            items,
            rng.choice(_TITLES),
            rng.choice(_HOME_TITLES),
            rng.choice(role.schema) if is_stated else "",
        )

    def _spots(self, role: Role) -> Sequence[Spot]:
        return [spot for spot in self._script.places if spot.language == role.language]

    def _words(self, role: Role, rng: Draw) -> Words:
        """The market's words, and those of the site's trade within its role."""
        words: dict[str, Sequence[str]] = dict(self._script.words)
        if role.groups:
            words |= role.groups[rng.choice(sorted(role.groups))]
        subjects = [lowered(subject) for subject in self._subjects]
        words["subject"] = subjects
        words["subjectword"] = [slug(subject).split("-")[-1] for subject in subjects]
        return words

    def _named(
        self, role: Role, rng: Draw, words: Words, settled: Mapping[str, str]
    ) -> tuple[str, str]:
        """A name and a domain that are not taken."""
        while True:
            name = Grammar(rng, words, settled).one(words.get("names", role.names))
            label = slug(name.removeprefix("The ").removesuffix(".test"))
            label = label if rng.random() < 0.4 else label.replace("-", "")
            bare = label.replace("-", "")
            if bare not in self._taken and 3 < len(label) < 60:
                self._taken.add(bare)
                return (f"{label}.test" if role.bare else name), f"{label}.test"

    def _items(
        self, role: Role, rng: Draw, words: Words, settled: Mapping[str, str]
    ) -> tuple[Item, ...]:
        patterns = words.get("items", role.items)
        chosen = rng.sample(patterns, min(len(patterns), rng.randint(4, 7)))
        if "{subject}" in "".join(patterns).lower():  # a pattern serves several subjects
            chosen += rng.choices(patterns, k=3)
        found: dict[str, Item] = {}
        for pattern in chosen:
            subject = rng.choice(words["subject"])
            name = Grammar(rng, words, {**settled, "subject": subject}).write(pattern)
            found[slug(name)] = Item(name[:1].upper() + name[1:], subject)
        return tuple(found.values())


def lowered(text: str) -> str:
    """As within a sentence; abbreviations stay unchanged."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
