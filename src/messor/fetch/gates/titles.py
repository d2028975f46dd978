"""Titles of pages shown in place of the content, in the major languages.

In lower case with straight apostrophes; punctuation around a part is ignored.
"""

# ruff: noqa: RUF001 - titles in many alphabets

from __future__ import annotations

import re

from messor.fetch.gates.verdict import (
    CHALLENGE,
    CONSENT_WALL,
    DENIED,
    GEO_BLOCK,
    LOGIN_WALL,
    RATE_LIMIT,
    UNAVAILABLE,
    WAITING_ROOM,
)

NOT_FOUND = "not_found"

# Parts of a title, between its separators, that name the kind of page; matched as a whole.
_PARTS: dict[str, str] = {
    part: by
    for by, parts in {
        "cloudflare": (
            "just a moment", "attention required", "nur einen moment", "einen moment",
            "un instant", "un momento", "um momento", "un attimo", "een ogenblik",
            "even geduld", "bir dakika lütfen", "один момент", "请稍候", "請稍候",
            "しばらくお待ちください", "잠시만 기다리십시오", "please wait", "cierpliwości",
            "lütfen bekleyin", "ett ögonblick", "لحظة",
        ),
        "perimeterx": (
            "access to this page has been denied", "access to this page has been blocked",
            "robot or human", "are you a human",
        ),
        "imperva": ("pardon our interruption", "request unsuccessful"),
        "vercel": ("vercel security checkpoint",),
        "sucuri": ("sucuri website firewall", "sucuri cloudproxy"),
        "f5": ("request rejected",),
        "ddos-guard": ("ddos-guard", "ddos guard"),
        "anubis": (
            "making sure you're not a bot", "making sure you are not a bot",
            "oh noes", "ensuring the security of your connection",
            "checking that you are not a bot", "sicherstellen, dass sie kein bot sind",
            "vérification que vous n'êtes pas un robot", "asegurándonos de que no eres un bot",
        ),
        "amazon": ("robot check",),
        "imunify360": ("one moment, please", "bot verification"),
        "radware": ("radware captcha page", "radware bot manager captcha", "shieldsquare captcha"),
        "fastly": ("client challenge",),
        "weibo": ("sina visitor system",),
        "baidu": ("百度安全验证",),
        "cloudfront": ("error: the request could not be satisfied",),
        "wordfence": (
            "your access to this site has been limited",
            "your access to this site has been limited by the site owner",
        ),
        "tiktok": ("verify to continue",),
        CHALLENGE: (
            "captcha", "captcha challenge", "captcha required", "security check",
            "security verification", "security checkpoint", "security challenge",
            "human verification", "verification required", "verify you are human",
            "verify you're human", "verifying you are human", "verifying your browser",
            "checking your browser", "browser check", "browser verification", "bot check",
            "are you a robot", "are you human", "are you a bot", "you are not a robot",
            "please wait for verification", "please verify you are a human",
            "please verify you are human", "unusual traffic", "unusual traffic detected",
            "suspicious activity", "suspicious activity detected", "bot detected",
            "bot detection", "ddos protection", "challenge validation", "human check",
            "sicherheitsüberprüfung", "sicherheitsprüfung", "sind sie ein mensch",
            "vérification de sécurité", "contrôle de sécurité", "êtes-vous un robot",
            "verificación de seguridad", "comprobación de seguridad", "¿eres un robot?",
            "verifica di sicurezza", "controllo di sicurezza", "verificação de segurança",
            "beveiligingscontrole", "weryfikacja", "проверка безопасности", "проверка браузера",
            "вы не робот", "вы не робот?", "安全验证", "人机验证", "安全检查", "セキュリティチェック",
            "보안 확인", "güvenlik kontrolü", "kiểm tra bảo mật", "your browsing activity has been paused",
        ),
        DENIED: (
            "access denied", "access forbidden", "access blocked", "access restricted",
            "forbidden", "403 forbidden", "403", "error 403", "403 error", "http 403",
            "403 access denied", "403 - forbidden", "blocked", "you have been blocked",
            "you've been blocked", "you are blocked", "request blocked", "web page blocked",
            "your request has been blocked", "your ip has been blocked", "ip blocked",
            "error 1020", "error 1006", "error 1009", "error 1010", "error 1012",
            "not acceptable", "406 not acceptable", "unauthorized access",
            "zugriff verweigert", "zugriff gesperrt", "accès refusé", "accès interdit",
            "acceso denegado", "accesso negato", "acesso negado", "toegang geweigerd",
            "brak dostępu", "dostęp zabroniony", "доступ запрещен", "доступ запрещён",
            "доступ ограничен", "доступ заблокирован", "拒绝访问", "访问被拒绝", "禁止访问",
            "アクセス拒否", "アクセスが拒否されました", "접근 거부", "액세스 거부됨",
            "erişim engellendi", "erişim reddedildi", "truy cập bị từ chối", "åtkomst nekad",
            "adgang nægtet", "přístup odepřen", "تم رفض الوصول",
        ),
        RATE_LIMIT: (
            "too many requests", "429 too many requests", "429", "error 429", "rate limited",
            "rate limit exceeded", "rate limit", "request limit exceeded", "error 1015",
            "zu viele anfragen", "trop de requêtes", "demasiadas solicitudes",
            "troppe richieste", "muitas solicitações", "te veel verzoeken",
            "zbyt wiele żądań", "слишком много запросов", "请求过多", "访问过于频繁",
            "リクエストが多すぎます", "요청이 너무 많습니다", "çok fazla istek",
        ),
        UNAVAILABLE: (
            "503 service unavailable", "503 service temporarily unavailable",
            "service unavailable", "service temporarily unavailable",
            "error 503", "503", "temporarily unavailable",
        ),
        GEO_BLOCK: (
            "not available in your country", "not available in your region", "451",
            "unavailable for legal reasons", "451: unavailable due to legal reasons",
            "unavailable due to legal reasons", "451 unavailable for legal reasons",
            "not available in your location", "geo blocked", "geoblocked", "region not supported",
            "access from your country is not allowed", "country blocked",
        ),
        WAITING_ROOM: (
            "waiting room", "queue-it", "you are in line", "you are now in line",
            "virtual waiting room", "warteraum", "warteschlange", "salle d'attente",
            "file d'attente", "sala de espera", "sala d'attesa", "wachtrij", "wachtkamer",
            "poczekalnia", "待合室", "대기실",
        ),
        LOGIN_WALL: (
            "login", "log in", "log-in", "sign in", "sign-in", "signin", "log in or sign up", "sign in or sign up", "sign up or log in", "login required",
            "please log in", "please login", "please sign in", "authentication required",
            "authorization required", "401 unauthorized", "unauthorized", "sign in to continue",
            "log in to continue", "member login", "customer login", "user login", "account login",
            "anmelden", "einloggen", "connexion", "se connecter", "identifiez-vous",
            "iniciar sesión", "inicia sesión", "entrar", "acceder", "accedi", "accesso",
            "iniciar sessão", "fazer login", "inloggen", "aanmelden", "zaloguj się", "logowanie",
            "вход", "войти", "авторизация", "登录", "登入", "ログイン", "로그인", "giriş yap",
            "oturum aç", "đăng nhập", "logga in", "log ind", "logg inn", "přihlášení",
            "kirjaudu sisään", "bejelentkezés", "התחברות", "تسجيل الدخول",
        ),
        CONSENT_WALL: (
            "before you continue", "privacy gate", "dpg media privacy gate", "cookie wall",
            "cookiewall", "cookie consent", "consent", "cookies & ihre zustimmung",
            "privacy settings", "privacy-einstellungen", "privatsphäre-einstellungen",
            "cookie-einstellungen", "cookie settings", "your privacy choices",
            "we value your privacy", "ihre privatsphäre", "votre vie privée",
            "bevor sie fortfahren", "avant de continuer", "antes de continuar",
            "prima di continuare", "voordat je verdergaat", "zanim przejdziesz dalej",
        ),
        NOT_FOUND: (
            "404", "error 404", "404 error", "http 404", "404 not found", "not found",
            "404 - not found", "404 page not found", "page not found", "page not found (404)",
            "error 404 (not found)", "error 404 not found", "404 (not found)", "file not found",
            "page cannot be found", "the page cannot be found", "page could not be found",
            "page can't be found", "the page you requested could not be found",
            "the page you are looking for", "oops! page not found", "nothing found",
            "sorry, page not found", "page does not exist", "this page does not exist",
            "page doesn't exist", "this page doesn't exist", "product not found",
            "article not found", "content not found", "http status 404", "410 gone", "page missing",
            "page unavailable", "page no longer available", "this page isn't available",
            "seite nicht gefunden", "nicht gefunden", "seite wurde nicht gefunden",
            "die seite wurde nicht gefunden", "fehler 404", "404 seite nicht gefunden",
            "page introuvable", "page non trouvée", "erreur 404", "page inexistante",
            "404 page introuvable", "introuvable", "la page est introuvable",
            "página no encontrada", "no encontrado", "no encontrada", "pagina no encontrada",
            "404 página no encontrada", "pagina non trovata", "non trovato", "errore 404",
            "página não encontrada", "pagina nao encontrada", "não encontrado", "erro 404",
            "pagina niet gevonden", "niet gevonden", "fout 404", "nie znaleziono strony",
            "strona nie znaleziona", "nie znaleziono", "błąd 404", "strony nie znaleziono",
            "страница не найдена", "не найдено", "ошибка 404", "сторінку не знайдено",
            "页面不存在", "页面未找到", "找不到页面", "找不到网页", "您访问的页面不存在", "頁面不存在",
            "找不到頁面", "ページが見つかりません", "ページが見つかりませんでした", "お探しのページは見つかりません",
            "페이지를 찾을 수 없습니다", "찾을 수 없음", "sayfa bulunamadı", "hata 404",
            "không tìm thấy trang", "sidan hittades inte", "sidan kunde inte hittas",
            "siden blev ikke fundet", "siden ble ikke funnet", "siden findes ikke",
            "sivua ei löydy", "sivua ei löytynyt", "stránka nenalezena", "stránka nebyla nalezena",
            "stránka sa nenašla", "az oldal nem található", "oldal nem található",
            "pagina nu a fost găsită", "pagină negăsită", "η σελίδα δεν βρέθηκε",
            "halaman tidak ditemukan", "الصفحة غير موجودة", "הדף לא נמצא",
        ),
    }.items()
    for part in parts
}  # fmt: skip

# Beginnings of a title.
_STARTS_OF: tuple[tuple[str, str], ...] = (
    ("before you continue to", CONSENT_WALL),
    ("bevor sie zu", CONSENT_WALL),
    ("bevor sie fortfahren", CONSENT_WALL),
    ("avant d'accéder à", CONSENT_WALL),
    ("avant de continuer", CONSENT_WALL),
    ("antes de ir a", CONSENT_WALL),
    ("antes de continuar", CONSENT_WALL),
    ("antes de aceder", CONSENT_WALL),
    ("antes de acessar", CONSENT_WALL),
    ("prima di continuare", CONSENT_WALL),
    ("voordat je verdergaat", CONSENT_WALL),
    ("zanim przejdziesz", CONSENT_WALL),
    ("innan du fortsätter", CONSENT_WALL),
    ("yahoo is part of the yahoo family", CONSENT_WALL),
    ("yahoo ist teil der yahoo", CONSENT_WALL),
    ("yahoo fait partie de la famille", CONSENT_WALL),
    ("yahoo is een onderdeel van", CONSENT_WALL),
    ("yahoo fa parte della famiglia", CONSENT_WALL),
    ("yahoo forma parte de la familia", CONSENT_WALL),
    ("log into ", LOGIN_WALL),
    ("log in to ", LOGIN_WALL),
    ("login to ", LOGIN_WALL),
    ("sign in to ", LOGIN_WALL),
    ("connexion à ", LOGIN_WALL),
    ("access to this page has been", "perimeterx"),
    ("access denied", DENIED),
    ("verify you are", CHALLENGE),
    ("verifying you are", CHALLENGE),
    ("please verify", CHALLENGE),
    ("checking your browser", CHALLENGE),
    ("security check", CHALLENGE),
    ("making sure you", "anubis"),
)
_STARTS = tuple(start for start, _ in _STARTS_OF)

_MARKS = " !.…?¡¿"
_BY_PART = {part.strip(_MARKS): by for part, by in _PARTS.items()}
_SEPARATOR = re.compile(r"[|•·–—:»«]| - ")


def kind_of_title(title: str) -> str | None:
    """The vendor or kind of page that a title names, NOT_FOUND included; None for most titles."""
    whole = title.lower().replace("’", "'").strip(_MARKS)
    found = _BY_PART.get(whole)
    if found is not None or not whole:
        return found
    if whole.startswith(_STARTS):
        return next(by for start, by in _STARTS_OF if whole.startswith(start))
    for part in _SEPARATOR.split(whole):
        found = _BY_PART.get(part.strip(_MARKS))
        if found is not None:
            return found
    return None
