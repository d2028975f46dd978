"""Hosts with odd bodies: wrong charset, NUL bytes, robots directives, files."""

from __future__ import annotations

from simweb import files
from simweb.answers import SimResponse
from simweb.chance import draw
from simweb.documents import HTML
from simweb.markup import piece
from simweb.mischief.flaw import Flaw, Handler, Links, always, html, page, routes
from simweb.prose import Writer

_BARE_HTML = "text/html"


def flaws(seed: int) -> list[Flaw]:
    return [
        Flaw("wrong-charset.test", "wrong-charset", _charsets(seed), 4),
        Flaw("nul-bytes.test", "nul-bytes", _nul_bytes(), 2),
        Flaw("noindex.test", "noindex", _directives(), 5),
        Flaw("files.test", "files", _files(), 1),
    ]


def _charsets(seed: int) -> Handler:
    """Three pages whose bytes contradict their header or meta tag."""
    links: Links = (("/latin", "Latin"), ("/undeclared", "Undeclared"), ("/broken", "Broken"))
    home = page("Letters", ("Grüße, señoras et garçons.",), links)
    text = html("Grüße", tuple(Writer(draw(seed, "charset"), "de").paragraphs(3)))
    lying_meta = text.replace('charset="utf-8"', 'charset="shift_jis"')
    broken = text.encode()[:200] + b"\xff\xfe\xc3\x28" + text.encode()[200:]
    return routes(
        {
            "/": always(home),
            "/latin": always(_raw(HTML, text.encode("cp1252", "replace"))),
            "/undeclared": always(_raw(_BARE_HTML, lying_meta.encode("cp1252", "replace"))),
            "/broken": always(_raw(HTML, broken)),
        }
    )


def _nul_bytes() -> Handler:
    text = html("Holes\0in the title", ("A line\0with\0holes.", "A whole line."))
    home = page("Holes", ("The next page has holes.",), (("/holes", "Holes"),))
    return routes({"/": always(home), "/holes": always(_raw(HTML, text.encode()))})


def _directives() -> Handler:
    """Meta tags, a header and a link attribute that ask not to be indexed or followed."""
    links: Links = (
        ("/meta-noindex", "Not for the index"),
        ("/meta-nofollow", "Links not to be followed"),
        ("/header-noindex", "The same, by header"),
    )
    home = html("Please do not look", ("Some of this is not for you.",), links)
    shy = piece("nofollow_entry", href="/not-to-follow", text="An untrusted link")
    meta_noindex = html("Not for the index", head=piece("robots_meta", content="noindex"))
    meta_nofollow = html(
        "Not to be followed",
        links=(("/behind-nofollow", "Behind"),),
        head=piece("robots_meta", content="nofollow"),
    )
    by_header = page("By header", extra=(("X-Robots-Tag", "noindex, nofollow"),))
    return routes(
        {
            "/": always(_raw(HTML, home.replace("</body>", f"{shy}</body>").encode())),
            "/meta-noindex": always(_raw(HTML, meta_noindex.encode())),
            "/meta-nofollow": always(_raw(HTML, meta_nofollow.encode())),
            "/header-noindex": always(by_header),
            "/not-to-follow": always(page("Untrusted")),
            "/behind-nofollow": always(page("Behind")),
        }
    )


def _files() -> Handler:
    """Links to a PDF, an image, and a PDF that claims to be HTML."""
    links: Links = (
        ("/report.pdf", "Report"),
        ("/photo.png", "Photo"),
        ("/disguised", "A PDF that says it is a page"),
    )
    report = files.pdf("Yearly report")
    return routes(
        {
            "/": always(page("Files", ("Nothing but files.",), links)),
            "/report.pdf": always(report),
            "/photo.png": always(files.png(0.4, side=64)),
            "/disguised": always(_raw(HTML, report.body)),
        }
    )


def _raw(content_type: str, body: bytes) -> SimResponse:
    return SimResponse(200, (("Content-Type", content_type),), body)
