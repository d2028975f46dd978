"""Pages that a site shows in place of the content: login, consent, "not found" with a 200."""

# ruff: noqa: RUF001 - sentences in many alphabets

from __future__ import annotations

import re

from messor.fetch.gates.answer import GateInput
from messor.fetch.gates.titles import NOT_FOUND, kind_of_title
from messor.fetch.gates.verdict import CONSENT_WALL, LOGIN_WALL
from messor.web.html import PageReading

# More text than this is content, whatever the title says, unless a heading says the same.
_NOT_FOUND_CHARS = 5_000
_HEADINGS = 12
_LINES = 400

_LOGIN_CHARS = 1_500
_LOGIN_BARE_CHARS = 200
_PASSWORD = re.compile(r"<input\b[^<>]{0,500}\btype\s{0,9}=\s{0,9}[\"']?password", re.IGNORECASE)
_LOGIN_PATH = re.compile(
    r"//[^/?#]+/[^?#]*(?:log-?in|sign-?in|/auth\b|/sso\b|/session)", re.IGNORECASE
)
_WAY_BACK = re.compile(
    r"[?&](?:next|continue|return\w*|redirect\w*|redir|dest\w*|goto|from|sessionredirect|back\w*"
    r"|service|target\w*|r|ref\w*|url)=",
    re.IGNORECASE,
)
_LOGIN_SENTENCES = (
    "you must log in to continue", "you must be logged in", "you need to be logged in",
    "you need to log in", "you need to sign in", "you must sign in", "please log in to",
    "please login to", "please sign in to", "log in to continue", "login to continue",
    "sign in to continue", "sign in to view", "log in to view", "log in to see",
    "sign in to see", "sign in to access", "log in to access", "sign in or join to",
    "join to view", "this content is for members only", "this page is for members only",
    "sie müssen angemeldet sein", "bitte melden sie sich an", "melde dich an, um",
    "bitte loggen sie sich ein", "vous devez être connecté", "vous devez vous connecter",
    "connectez-vous pour", "debes iniciar sesión", "inicia sesión para", "inicie sesión para",
    "accedi per continuare", "devi effettuare l'accesso", "faça login para", "entre para ver",
    "log in om", "je moet ingelogd zijn", "zaloguj się, aby", "войдите, чтобы",
    "необходимо авторизоваться", "请先登录", "请登录后", "ログインしてください", "ログインが必要",
    "로그인이 필요", "giriş yapmalısınız", "vui lòng đăng nhập",
)  # fmt: skip

_CONSENT_CHARS = 2_500
_CONSENT_LONG_CHARS = 8_000
_CONSENT_LINKS = 20
_CONSENT_OPENING = 400
_CONSENT_PLACES = re.compile(
    r"//(?:consent|cookiewall|privacygate|myprivacy|guce|cmp-consent)\.[^/]+"
    r"|//[^/]+/(?:consent|cookiewall|cookie-wall|privacy-gate|privacygate)\b",
    re.IGNORECASE,
)
_CONSENT_ACTIONS = re.compile(
    r"<form\b[^<>]{0,500}\baction\s{0,9}=\s{0,9}[\"']?[^\"'<>]{0,300}?(?:consent|cookie)",
    re.IGNORECASE,
)
# Requests for consent, and buttons that reply: a wall has both and little else.
_CONSENT_ASKS = (
    "we use cookies", "we value your privacy", "we care about your privacy", "uses cookies",
    "our partners store", "we and our partners", "your privacy choices", "use of cookies",
    "cookies and similar technologies", "before you continue", "process your personal data",
    "personal data processing", "privacy is important to us",
    "wir verwenden cookies", "wir und unsere partner", "ihre privatsphäre", "einwilligung",
    "nous utilisons des cookies", "nos partenaires", "votre vie privée", "votre consentement",
    "utilizamos cookies", "usamos cookies", "nuestros socios", "su privacidad", "tu privacidad",
    "utilizziamo i cookie", "i nostri partner", "la tua privacy", "la vostra privacy",
    "nossos parceiros", "sua privacidade", "wij gebruiken cookies", "we gebruiken cookies",
    "onze partners", "jouw privacy", "używamy plików cookie", "nasi partnerzy",
    "мы используем файлы cookie", "мы используем cookie", "vi använder cookies",
    "vi bruger cookies", "vi bruker informasjonskapsler", "používáme soubory cookie",
)  # fmt: skip
_CONSENT_ANSWERS = (
    "accept all", "accept cookies", "accept and continue", "accept & continue", "i accept",
    "i agree", "agree and", "agree to all", "allow all", "reject all", "manage options",
    "manage settings", "manage preferences", "cookie settings", "got it", "consent",
    "alle akzeptieren", "alles akzeptieren", "akzeptieren", "zustimmen", "alle ablehnen",
    "tout accepter", "accepter", "tout refuser", "continuer sans accepter", "j'accepte",
    "aceptar todo", "aceptar", "rechazar todo", "acepto", "accetta tutto", "accetta", "accetto",
    "rifiuta tutto", "aceitar", "rejeitar", "alles accepteren", "accepteren", "akkoord",
    "alles afwijzen", "zaakceptuj", "akceptuję", "zgadzam się", "принять", "согласен",
    "godkänn", "accepter alle", "godta alle", "přijmout vše", "souhlasím",
)  # fmt: skip


def soft_404(reading: PageReading) -> str | None:
    """The title or heading by which a page with status 200 says that there is no such page."""
    heading = _not_found_heading(reading)
    if kind_of_title(reading.title) == NOT_FOUND:
        return reading.title if reading.text_length < _NOT_FOUND_CHARS else heading
    if reading.text_length < _NOT_FOUND_CHARS // 4:
        return heading
    return None


def _not_found_heading(reading: PageReading) -> str | None:
    """The first heading that names a missing page; a later heading is likely a link."""
    seen = 0
    for line in reading.markdown[: 2 * _NOT_FOUND_CHARS].splitlines()[:_LINES]:
        if not line.startswith("#"):
            continue
        if kind_of_title(line.lstrip("# ")) == NOT_FOUND:
            return line.lstrip("# ")[:200]
        seen += 1
        if seen >= _HEADINGS:
            break
    return None


def login_wall(answer: GateInput, title_kind: str | None) -> str | None:
    """The text by which a page demands a login before showing the content."""
    if answer.length >= _LOGIN_CHARS or _is_login_page(answer.url):
        return None
    asked = answer.title if title_kind == LOGIN_WALL else _first(_LOGIN_SENTENCES, answer.text)
    if asked is None:
        return None
    if answer.length < _LOGIN_BARE_CHARS or _PASSWORD.search(answer.html):
        return asked
    return None


def _is_login_page(url: str) -> bool:
    """Whether the URL itself names the login form, rather than redirecting to it."""
    return bool(_LOGIN_PATH.search(url)) and not _WAY_BACK.search(url)


def consent_wall(answer: GateInput, title_kind: str | None) -> str | None:
    """The text by which a page demands consent before showing the content."""
    named = title_kind == CONSENT_WALL
    at_place = _CONSENT_PLACES.search(answer.url)
    if (named or at_place) and answer.length < _CONSENT_LONG_CHARS:
        asks = _CONSENT_ACTIONS.search(answer.html) or _first(_CONSENT_ANSWERS, answer.text)
        if asks or answer.length < _LOGIN_BARE_CHARS:
            return answer.title if named or not at_place else at_place[0]
    if answer.length >= _CONSENT_CHARS or answer.links > _CONSENT_LINKS:
        return None
    asked = _first(_CONSENT_ASKS, answer.text[:_CONSENT_OPENING])
    if asked and _says_only_consent(answer):
        return asked
    return None


def _says_only_consent(answer: GateInput) -> bool:
    """Whether the page is mostly a consent request: it asks twice and offers a reply."""
    asks = sum(phrase in answer.text for phrase in _CONSENT_ASKS)
    answers = sum(phrase in answer.text for phrase in _CONSENT_ANSWERS)
    return answers >= 1 and asks + answers >= 3 and answer.length < 500 * (asks + answers)


def _first(phrases: tuple[str, ...], text: str) -> str | None:
    return next((phrase for phrase in phrases if phrase in text), None)
