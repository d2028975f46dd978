"""A topic: words that indicate that a page is about something, and words against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from messor.content.dates import fold
from messor.errors import UsageError

MAX_PHRASES = 2_000


@dataclass(frozen=True)
class Topic:
    """What a vertical looks for. Phrases are whole words in any case; weights are above zero."""

    name: str  # of the vertical
    about: str = ""  # in a sentence, for a model
    phrases: Mapping[str, float] = field(default_factory=dict)
    excluded: Mapping[str, float] = field(default_factory=dict)
    version: int = 1
    relevant_from: float = 0.6  # minimum score of a relevant page
    irrelevant_to: float = 0.4  # maximum score of an irrelevant one; between them it is borderline

    def __post_init__(self) -> None:
        if not 0 <= self.irrelevant_to <= self.relevant_from <= 1:
            raise UsageError(
                f"The topic {self.name} needs 0 <= irrelevant_to <= relevant_from <= 1."
            )
        weights = (*self.phrases.values(), *self.excluded.values())
        if any(not 0 < weight < 1_000 for weight in weights):
            raise UsageError(f"Weights of the topic {self.name} must be above 0 and below 1000.")
        if len(weights) > MAX_PHRASES:
            raise UsageError(f"The topic {self.name} has more than {MAX_PHRASES} phrases.")

    @classmethod
    def of_terms(
        cls,
        name: str,
        about: str,
        terms: Iterable[str],
        against: Iterable[str] = (),
        version: int = 1,
    ) -> Topic:
        """A topic of plain lists: a phrase of several words weighs more than a word."""
        return cls(
            name,
            about,
            {term: float(len(term.split())) for term in terms},
            {term: float(len(term.split())) for term in against},
            version,
        )

    @cached_property
    def folded(self) -> tuple[dict[str, float], dict[str, float]]:
        """Phrases for and against, in folded form."""
        return _folded(self.phrases), _folded(self.excluded)


def _folded(phrases: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for phrase, weight in phrases.items():
        plain = " ".join(fold(phrase).split())
        if plain:
            found[plain] = max(weight, found.get(plain, 0.0))
    return found
