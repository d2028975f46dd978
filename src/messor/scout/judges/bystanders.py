"""Bystanders: sites that list, compare, resell, report on or discuss others, by their own words.

Such a result matches the topic well, but is not what the vertical looks for. Names and headings
typical of its kind, in any trade, give it away. Terms that the vertical itself looks for are
ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from messor.scout.judges.titles import Title
from messor.scout.words import Phrases, stem
from messor.verticals.model import Vertical

# Typical names, as a word of the name or an end of the domain.
NAMES: Mapping[str, str] = {
    "lists others": "directory, finder, find, pages, listings, index, guide, yellow, lookup, locator, catalog, links, "
    "portal, verzeichnis, branchenbuch, annuaire, directorio, guía",
    "compares offers": "compare, comparison, deals, deal, cheap, coupon, coupons, voucher, vouchers, offers, prices, price, "
    "preisvergleich, comparateur, bargains, discount",
    "sells for others": "marketplace, bazaar, bazar, mart, auctions, auction, classifieds, marktplatz, flohmarkt",
    "is a newspaper": "news, times, post, herald, gazette, tribune, courier, chronicle, observer, star, echo, mail, mirror, "
    "daily, weekly, journal, magazine, press, zeitung, anzeiger, tageblatt, diario, bulletin, argus, telegraph, "
    "examiner, reporter, standard, record, review, reviews, tested, blog, today, voice, вестник, новини, дневник, "
    "novini, vestnik, dnevnik, nachrichten, noticias, actualités",
    "is a place to chat": "forum, forums, talk, discuss, chat, chatter, chatroom, answers, ask, reddit",
    "is a social network": "friends, social, followers",
    "is a work of reference": "wiki, pedia, encyclopedia, encyclopaedia, dictionary, lexicon, lexikon, glossary, thesaurus",
    "offers jobs": "jobs, careers, vacancies, hire, recruitment, recruiting, staffing, stellen, emploi, empleo",
    "teaches": "university, college, school, academy, polytechnic, institute, campus, hochschule, universität, université, "
    "universidad, training",
    "supplies the trade": "wholesale, wholesaler, distribution, distributors, distributor, supplies, importers, exports, "
    "equipment",
    "lends or invests": "loans, loan, lending, credit, cash, capital, mortgages, invest, investments, finance, insurance, asset",
    "is an authority": "revenue, statistics, registry, customs, ministry, department, authority, "
    "parliament, embassy",
    "speaks for a trade": "association, federation, guild, chamber, union, verband, institute, society, syndicat",
    "sells software": "software, cloud, saas, app, apps, platform, systems",
}  # fmt: skip
# Typical words of their headings and descriptions.
SAYINGS: Mapping[str, str] = {
    "lists others": "directory, listings, listing, entries, addresses, guide to, rated, top rated, best rated, highest rated, "
    "reviews of, reviews and, ratings, rated by, reviewers, near you, find a, find the, browse by, "
    "sort by, filter by, claim your, add your business, list your business, look up, the best, "
    "phone numbers, compare providers, compare clinics, nearest, bewertungen, adressen",
    "compares offers": "compare prices, prices compared, price comparison, compare, cheapest, lowest price, coupons, coupon, "
    "discount code, discount codes, promo code, promo codes, vouchers, deals, price history, price alert, "
    "partners, all offers, best price, offers from, sponsored",
    "sells for others": "sellers, seller, bid, bids, auction, auctions, buy and sell, new and used, second hand, gift vouchers, "
    "buyer protection, buyers, sell your, refurbished",
    "is a newspaper": "according to, said on, newspaper, spokesman, spokeswoman, spokesperson, reporter, "
    "reporters, journalists, journalism, headlines, breaking, opinion, editorial, comment, columnist, exclusive, police, "
    "read more, published, updated, subscribe, "
    "interview with, the latest, what we know, here is why, verdict, our verdict, hands on, tested, column, "
    "reviewed, review, съобщи, съобщиха, заяви, заявиха, според, каза, обяви, обявиха, вестник, репортер",
    # The recipient's story, told afterwards: a program speaks of those who may apply.
    "reports what was given": "wins, has won, have won, won a, was awarded, were awarded, has been awarded, have been awarded, "
    "receives, has received, have received, was given, secures, has secured, thanks to a grant, lands a, landed a, "
    "landing a, after landing, after winning, after receiving, announced today, "
    "announced yesterday, announced on, announced that, has announced, have announced, it was announced, announced by, "
    "officials said, said the, he said, she said, said on, said in a statement, told reporters, on monday, on tuesday, "
    "on wednesday, on thursday, on friday, yesterday, celebrates, "
    "gewinnt, erhält, hat erhalten, wurde ausgezeichnet, gab bekannt, teilte mit, sagte, remporte, a reçu, a annoncé, "
    "спечели, спечелиха, получи, получиха, отпусна, отпуснаха, ще отпусне, в понеделник, във вторник, в сряда, "
    "в четвъртък, в петък, вчера",
    "is a place to chat": "anyone, anybody, has anyone, replies, thread, "
    "threads, topic, topics, wrote, joined, posts, moderator, members, what do you think, "
    "worth it, quote, recommend, recommendation, recommendations",
    "is a social network": "followers, likes, comments, log in, sign up, photos and videos, "
    "follow, hashtag, profile, friends, posted, view all, video",
    "is a work of reference": "meaning, definition, etymology, what is, history of, origin, encyclopedia, dictionary, wikipedia, "
    "the word, refers to, citations, see also, synonyms, pronunciation, free encyclopedia",
    "offers jobs": "jobs in, vacancies, vacancy, salary, salaries, hiring, job openings, apply now, full time, part time, "
    "recruitment",
    "teaches": "diploma, bachelor, master of, degree, degrees, undergraduate, postgraduate, curriculum, enrolment, enrol, tuition, "
    "students, entry requirements, semester, lectures, graduation, apprenticeship, certificate in, course in, "
    "lecturers, faculty, campus, phd",
    "supplies the trade": "wholesale, distributor, distributors, dealers, trade only, minimum order, in bulk, "
    "manufacturers, manufacturer, spare parts",
    "lends or invests": "loan, loans, mortgage, mortgages, credit card, credit, overdraft, interest rate, investors, equity fund, pension plan, "
    "insurance, borrow, repayments, apr",
    "is an authority": "official site, official website, public service, by law, permit, permits, tenders, statutory, regulations, "
    "passport",
    "speaks for a trade": "members, membership, become a member, code of practice, annual conference, "
    "position paper",
    "is for sale itself": "domain is for sale, domain may be for sale, parked, related links, related searches, buy this domain",
    "sells advice on it": "consultants, consultant, software, bid writing",
}  # fmt: skip
# A number of places, offers or answers: "12 best", "(34 listings)", "Top 10", "from 58 sites".
_COUNTED = re.compile(
    r"\b(?:top|best)\s+\d+\b|\b\d[\d,.]*\s+(?:best|top|addresses|listings|results|reviews|entries|offers|prices|sellers|sites|stores"
    r"|shops|models|vacancies|jobs|replies|comments|likes|followers|members|posts|deals|places|providers)\b",
    re.IGNORECASE,
)
_QUESTION_OR_POST = re.compile(r"\?\s*$|^\s*(?:re:|\[\w+\]|#\w|@\w)", re.IGNORECASE)
# First person singular: organisations say "we".
_FIRST_PERSON = re.compile(r"\b(?:I|I['\u2019](?:m|ve|d|ll)|[Mm]y|[Mm]yself)\b")

BY_NAME, BY_LABEL, BY_TITLE, BY_SNIPPET = 1.0, 0.8, 0.7, 0.4
_ENOUGH = 0.7
_ENOUGH_AGAINST_ITS_NAME = 1.2  # where its name has a wanted term
_SHORTEST_END = 4
_MAX_PHRASES = 2  # of a kind that count in one text


@dataclass(frozen=True, slots=True)
class Bystander:
    """What gives a result away, and how strongly."""

    weight: float
    kind: str
    words: tuple[str, ...]

    def is_one(self, *, named_as_wanted: bool = False) -> bool:
        return self.weight >= (_ENOUGH_AGAINST_ITS_NAME if named_as_wanted else _ENOUGH)


class _Signs:
    """Signs found so far, by kind."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._words: dict[str, list[str]] = {}

    def add(self, kind: str, word: str, weight: float, *, maximum: float = 100.0) -> None:
        self._weights[kind] = min(self._weights.get(kind, 0.0) + weight, maximum)
        self._words.setdefault(kind, []).append(word)

    def verdict(self) -> Bystander:
        if not self._weights:
            return Bystander(0.0, "", ())
        kind = max(self._weights, key=lambda one: self._weights[one])
        return Bystander(sum(self._weights.values()), kind, tuple(self._words[kind]))


class Bystanders:
    """Detects bystanders of a vertical."""

    def __init__(self, vertical: Vertical) -> None:
        relevance = vertical.relevance
        wanted = (*vertical.service_words, *relevance.terms, *relevance.organisation_terms)
        self._own = {stem(word) for text in wanted for word in text.split()}
        # A vertical that looks for universities ignores signs of teaching.
        organisation_terms = set(relevance.organisation_terms)
        kept = {
            kind: words
            for kind, words in NAMES.items()
            if not organisation_terms & set(_split(words))
        }
        phrases = {
            kind: words for kind, words in SAYINGS.items() if kind in kept or kind not in NAMES
        }
        self._kind_of_name = self._by_word(kept)
        self._kind_of_saying = self._by_word(phrases)
        self._names = Phrases(self._kind_of_name)
        self._sayings = Phrases(self._kind_of_saying)
        self._ends = [
            word for word in self._kind_of_name if len(word) >= _SHORTEST_END and word.isascii()
        ]

    def _by_word(self, words_by_kind: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for kind, words in words_by_kind.items():
            for word in self._foreign(words):
                found.setdefault(word, kind)
        return found

    def _foreign(self, words: str) -> Iterable[str]:
        """Signs that the vertical does not look for itself."""
        for phrase in _split(words):
            if not all(stem(word) in self._own for word in phrase.split()):
                yield phrase

    def detect(self, title: Title, snippet: str, label: str) -> Bystander:
        signs = _Signs()
        for name in self._names.found_in(title.name_alone):
            signs.add(self._kind_of_name[name], name, BY_NAME, maximum=1)
        if end := self._end_of(label):
            signs.add(self._kind_of_name[end], end, BY_LABEL)
        for text, weight in ((title.topic, BY_TITLE), (snippet, BY_SNIPPET)):
            counted: Counter[str] = Counter()
            for saying in self._sayings.found_in(text):
                kind = self._kind_of_saying[saying]
                counted[kind] += 1
                signs.add(kind, saying, weight if counted[kind] <= _MAX_PHRASES else 0.0)
            if match := _FIRST_PERSON.search(text):
                signs.add("is a personal account", match[0], weight)
        if title.name_alone and f" on {title.name_alone}".lower() in title.topic.lower():
            signs.add("is a social network", f"on {title.name_alone}", BY_TITLE)
        if many := _COUNTED.search(title.topic) or _QUESTION_OR_POST.search(title.topic):
            signs.add("is about many", many[0].strip(), BY_TITLE)
        return signs.verdict()

    def _end_of(self, label: str) -> str:
        """The kind's word that a domain begins or ends with."""
        plain = label.replace("-", "").lower()
        ends = (word for word in self._ends if plain.endswith(word) or plain.startswith(word))
        return max(ends, key=len, default="")


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]
