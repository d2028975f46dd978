"""The six judges. Each examines one aspect only, and explains its score."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

from messor.core.plurals import counted
from messor.scout.judges.bystanders import Bystanders
from messor.scout.judges.compounds import CompoundTerms
from messor.scout.judges.model import Opinion, SearchResult
from messor.scout.judges.titles import ORGANISATION_WORDS, Title
from messor.scout.words import Phrases, content_stems, stem
from messor.verticals.model import Vertical
from messor.web.suffixes import is_within
from messor.web.urls import parse as parse_url

ENOUGH = 1.8  # weighted topic words for the full score
IN_TITLE, IN_NAME, IN_SNIPPET, IN_ADDRESS = 1.0, 0.3, 0.6, 0.5
IN_NAME_ALONE = 0.8  # where nothing else is known, the name must suffice
FEW_WORDS = 5  # of a description that adds little to a title of one word
OF_TERM = 0.6  # weight of a topic-related word relative to a service
_SUSPECT = re.compile(r"(\d{4,})|(-[^-]*){4,}|(free|cheap|best|win|casino|loan)[a-z]*\d", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(20[0-4]\d)(?!\d)")
# A founding year says nothing about a page's age.
_BEGAN = re.compile(
    r"\b(?:since|founded|established|est\.?|opened|began|started|seit|gegründet|depuis|fondée?|desde|fundad[ao])"
    r"(?:\s+\w+){0,3}?\s+20\d\d",
    re.IGNORECASE,
)
_STREET = re.compile(r"^\d+[a-z]?,?\s+\D+$|^\D+\s\d+[a-z]?$", re.IGNORECASE)
_FOREIGN = frozenset({"xyz", "top", "click", "loan", "win", "buzz", "icu", "gq", "tk", "ml", "cf"})
_OWN_VOICE = re.compile(
    r"\b(?:we|us|our|ours|wir|uns|unser|unsere[mnrs]?|nous|notre|nos|somos|nuestr[oa]s?)\b",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(\.\.\.|…)\s*$")


def is_bare(snippet: str) -> bool:
    """Whether a description is empty, or merely a postal address."""
    return not snippet or (len(snippet.split()) < 7 and _STREET.match(snippet) is not None)


def says_little(title: Title, snippet: str) -> bool:
    """Whether a single word is all that a result is about."""
    return title.is_one_word and len(snippet.split()) < FEW_WORDS


def _quoted(words: list[str], most: int = 4) -> str:
    return ", ".join(repr(word) for word in words[:most])


class KeywordJudge:
    """Whether topic words occur in the title, the snippet and the URL.

    Services weigh more than related words. An organisation's own name weighs little: a shop may be
    called Lamp and sell none. From a bystander all weigh half, and so does a single word as title
    where hardly anything else is said.
    """

    name = "keyword"

    def __init__(self, vertical: Vertical) -> None:
        self._services = Phrases(vertical.service_words)
        self._terms = CompoundTerms(vertical.relevance.terms)
        self._against = Phrases(vertical.relevance.against)
        self._bystanders = Bystanders(vertical)
        self._organisations = CompoundTerms(vertical.relevance.organisation_terms)

    def judge(self, result: SearchResult) -> Opinion:
        title, url = Title.of(result.title, result.domain), parse_url(result.url)
        path = re.sub(r"[-/._+%\d]+", " ", url.path if url else "")
        best: dict[str, float] = {}
        for text, weight in (
            (title.topic, IN_TITLE),
            (title.organisation, IN_NAME_ALONE if is_bare(result.snippet) else IN_NAME),
            (result.snippet, IN_SNIPPET),
            (path, IN_ADDRESS),
        ):
            self._weigh(text, weight, best)
        against = self._against.found_in(f"{result.title} {result.snippet}")
        bystander = self._bystanders.detect(title, result.snippet, result.domain.partition(".")[0])
        named = bool(self._organisations.found_in(title.name_alone))
        is_bystander = bystander.is_one(named_as_wanted=named)
        is_scant = says_little(title, result.snippet)
        halvings = len(against) + is_bystander + is_scant
        score = min(sum(best.values()) / ENOUGH, 1.0) * 0.5**halvings
        message = f"mentions {_quoted(list(best))}" if best else "mentions nothing of the topic"
        if against:
            message += f"; {_quoted(against)} count against it"
        if is_bystander:
            message += "; apparently about others"
        if is_scant:
            message += "; one word as title says little"
        return Opinion(score, message)

    def _weigh(self, text: str, weight: float, best: dict[str, float]) -> None:
        for phrases, share in ((self._services, 1.0), (self._terms, OF_TERM)):
            for word in phrases.found_in(text):
                best[word] = max(best.get(word, 0.0), weight * share)


class DomainCredibilityJudge:
    """Whether the domain looks like one that an organisation stands behind."""

    name = "domain_credibility"

    def __init__(self, vertical: Vertical) -> None:
        self._credible = tuple(vertical.relevance.credible_suffixes)
        self._doubtful = tuple(vertical.relevance.doubtful_domains)

    def judge(self, result: SearchResult) -> Opinion:
        domain = result.domain
        doubtful = next((name for name in self._doubtful if is_within(domain, name)), None)
        if doubtful is not None:
            return Opinion(0.05, f"{doubtful} hosts user-generated content")
        suffix = next((s for s in self._credible if domain.endswith(s)), None)
        if suffix is not None:
            return Opinion(0.95, f"{suffix} is reserved for organisations of this kind")
        if domain.rpartition(".")[2] in _FOREIGN:
            return Opinion(0.2, f".{domain.rpartition('.')[2]} is often used for spam")
        if _SUSPECT.search(domain.partition(".")[0]):
            return Opinion(0.3, f"the name {domain} looks machine-made")
        return Opinion(0.65, "nothing speaks for or against the domain")


class GeographyJudge:
    """Whether the result is about the places of the vertical."""

    name = "geography"

    def __init__(self, vertical: Vertical) -> None:
        places = [place for geo in vertical.geo_sets.values() for place in geo.modifiers]
        countries = [profile.location for profile in vertical.profiles.values()]
        self._places = Phrases([*places, *countries])
        self._endings = {f".{profile.gl}" for profile in vertical.profiles.values()}
        self._endings |= {".uk"} if ".gb" in self._endings else set()

    def judge(self, result: SearchResult) -> Opinion:
        found = self._places.found_in(f"{result.title} {result.snippet}")
        if found:
            return Opinion(1.0, f"names {_quoted(found)}")
        ending = next((end for end in self._endings if result.domain.endswith(end)), None)
        if ending is not None:
            return Opinion(0.9, f"{ending} is a place of the vertical")
        if self._places.found_in(result.search_query):
            return Opinion(0.5, "a place was searched for, and the result does not name it")
        return Opinion(None, "no place was searched for, and none is named")


class OrganisationTypeJudge:
    """Whether it is an organisation of the vertical's kind, by its name first."""

    name = "organisation_type"

    def __init__(self, vertical: Vertical) -> None:
        terms = vertical.relevance.organisation_terms
        self._terms = CompoundTerms(terms)
        self._others = Phrases(set(ORGANISATION_WORDS) - set(terms))
        # A name with a wanted term is never another kind.
        wanted = (*terms, *vertical.service_words, *vertical.relevance.terms)
        self._own_stems = {stem(word) for text in wanted for word in text.split()}
        self._bystanders = Bystanders(vertical)

    def judge(self, result: SearchResult) -> Opinion:
        title = Title.of(result.title, result.domain)
        label = result.domain.partition(".")[0].replace("-", " ")
        named = self._terms.found_in_label(label)
        if not title.is_one_word:
            named = self._terms.found_in(title.organisation) or named
        bystander = self._bystanders.detect(title, result.snippet, label)
        if bystander.is_one(named_as_wanted=bool(named and not title.is_whole)):
            return Opinion(0.0, f"it {bystander.kind}: {_quoted(list(bystander.words))}")
        if named:
            is_scant = says_little(title, result.snippet)
            scant = ", and one word is all it says" if is_scant else ""
            return Opinion(0.5 if is_scant else 1.0, f"its name says {_quoted(named)}{scant}")
        other = self._others.found_in(label)
        if not title.is_whole:
            other = self._others.found_in(title.organisation) or other
        other = [word for word in other if stem(word) not in self._own_stems]
        if other:
            return Opinion(0.0, f"its name says {_quoted(other)}, which is another kind")
        topic = "" if title.is_one_word else title.topic
        spoken = self._terms.found_in(f"{topic} {result.snippet}")
        if spoken:
            return Opinion(0.6, f"its description says {_quoted(spoken)}")
        if _OWN_VOICE.search(result.snippet):
            return Opinion(0.5, "it is the organisation's own site, but its kind is not stated")
        return Opinion(0.35, "nothing indicates the kind of organisation")


class FreshnessJudge:
    """Whether the result is current: by its date, or by the years it names."""

    name = "freshness"

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def judge(self, result: SearchResult) -> Opinion:
        now = self._now()
        if result.published_at is not None:
            days = max((now - result.published_at).days, 0)
            return Opinion(round(math.exp(-days / 730), 3), f"it is {counted(days, 'day')} old")
        text = _BEGAN.sub(" ", f"{result.title} {result.snippet}")
        years = [int(year) for year in _YEAR.findall(text)]
        if not years:
            return Opinion(None, "it has no date")
        age = now.year - max(years)
        if age <= 0:
            return Opinion(1.0, f"it names {max(years)}")
        return Opinion(max(1.0 - 0.3 * age, 0.0), f"the latest year it names is {max(years)}")


class SnippetQualityJudge:
    """Whether title and description are readable text rather than a list of words."""

    name = "snippet_quality"

    def judge(self, result: SearchResult) -> Opinion:
        if not result.snippet:
            return Opinion(None, "there is no description")
        words = result.snippet.split()
        if is_bare(result.snippet):
            return Opinion(None, "the description is a postal address")
        distinct = len(content_stems(result.snippet)) / max(len(words), 1)
        faults = []
        if len(words) < FEW_WORDS:
            faults.append("the description is very short")
        if distinct < 0.35 and len(words) >= 5:
            faults.append("the description repeats itself")
        if sum(word.isupper() and len(word) > 3 for word in words) > len(words) / 3:
            faults.append("the description is in capitals")
        if not result.title or result.title.count("|") > 3:
            faults.append("the title is not meaningful")
        if len(words) < 8 and _TRAILING.search(result.snippet):
            faults.append("the description is cut off at the start")
        score = max(1.0 - 0.4 * len(faults), 0.0)
        return Opinion(score, "; ".join(faults) or "title and description read well")


def utc_now() -> datetime:
    return datetime.now(UTC)
