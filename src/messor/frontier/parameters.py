"""Query parameters: which of them identify a page, and which only change how it is shown."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class ParameterRole(Enum):
    """The effect of a parameter on its page."""

    NAME = "name"  # identifies the page: ids, titles, routes; also languages, which are few
    POSITION = "position"  # selects part of a list
    DATE = "date"  # moves a calendar
    VARIANT = "variant"  # sorts, filters, searches or changes the layout
    ACTION = "action"  # performs an action on a page: share, reply, return to
    SESSION = "session"  # identifies the visitor
    CODE = "code"  # an opaque value: perhaps a session, perhaps an id
    OTHER = "other"


_WORDS = {
    ParameterRole.SESSION: """
        sid sess sessid session sessionid session_id session-id s_id visitorid visit_id
    """,
    ParameterRole.POSITION: """
        page paged pg pageno page_no pagenum page_num pagenumber page_number currentpage
        current_page start offset skip seite pagina strona sida side stranka cpage
        comment-page startindex start_index first firstrow from_row p page_index pageindex
    """,
    ParameterRole.DATE: """
        month date day week mon yearmonth year_month start_date end_date startdate enddate
        datefrom dateto date_from date_to tribe-bar-date eventdate caldate cal_date ymd
        yymm monat mois mes mese maand tag_monat calendar_date view_date viewdate
        selected_date
    """,
    ParameterRole.VARIANT: """
        sort sort_by sortby sort-by sorting sortorder sort_order sortfield order order_by
        orderby orderdir dir direction asc desc srule filter filters facet facets refine
        refinements view viewmode view_mode display layout mode limit per_page perpage
        per-page pagesize page_size show size sizes color colour colors farbe couleur
        brand brands material style fit pattern price minprice maxprice min_price max_price price_min
        price_max pricerange price_range min max rating stars condition availability
        instock in_stock on_sale discount prefn1 prefv1 gender thumbs columns format print
        printable q s search query keyword keywords kw search_query searchterm search_term
        field-keywords
    """,
    ParameterRole.ACTION: """
        replytocom reply reply_to replyto share add-to-cart add_to_cart addtocart
        add-to-wishlist add_to_wishlist add_to_compare remove_item quickview print_view
        send_to_friend email_to like vote report unsubscribe redirect redirect_to
        redirect_uri return return_to returnto returnurl return_url backurl back_url next
        continue goto dest destination referer referrer ru oldid diff rev curid_diff nonce
        csrf csrft _wpnonce token ticket signature
    """,
    ParameterRole.NAME: """
        id ids no nr num code key sku isbn ean asin gtin slug title name article product item node
        topic thread post page_id cat category categories dept department user member file doc
        document pid cid aid nid tid uid oid gid fid vid iid bid mid lid rid idx t f u v route
        path option controller module mod m c a action act do op cmd task lang language locale hl
        lng l cc currency cur variant story_fbid play watch video list
    """,
}
_KNOWN = {word: meant for meant, words in _WORDS.items() for word in words.split()}
_VARIANT_START = re.compile(r"(?:filter|facet|f\[|attr|pa_|dwvar|prefn|prefv|sort|order|min_|max_)")
# "?action=edit" performs something; "?action=show" identifies a page.
_CONTROL_WORDS = "action act do op cmd a m c mod task"
_CONTROLS = frozenset(_CONTROL_WORDS.split())
_VERB_WORDS = """
    edit history login logout register add remove delete buy print share send reply quote
    report raw info backlink diff revisions revert signin signup addtocart wishlist compare
    subscribe
"""
_VERBS = frozenset(_VERB_WORDS.split())
# Letters and digits mixed, or only hexadecimal digits: neither a word nor a small number.
_TOKEN = re.compile(r"(?=[^\d]*\d)(?=[\d_.~-]*[a-zA-Z])[\w.~-]{16,}\Z|[0-9a-f]{24,}\Z")
_DATE_VALUE = re.compile(r"(?:1\d|2[0-9])\d\d-(?:0?[1-9]|1[0-2])(?:-\d\d?)?(?:T.*)?\Z")
_SUBSETS = re.compile(r"[^,|]+[,|][^,|]+")


@lru_cache(maxsize=8192)
def _role_of_name(name: str) -> ParameterRole | None:
    name = name.lower().removesuffix("[]").removesuffix("%5b%5d")
    known = _KNOWN.get(name)
    if known:
        return known
    of_id = _KNOWN.get(name.removesuffix("id").rstrip("_-"))  # "color_id" is a color
    if of_id is ParameterRole.VARIANT or _VARIANT_START.match(name):
        return ParameterRole.VARIANT
    return ParameterRole.NAME if name.endswith(("id", "_no", "_nr", "code", "name")) else None


def role(name: str, value: str, path: str) -> ParameterRole:
    """The role of one parameter; ambiguous names are distinguished by their values."""
    known = _role_of_name(name)
    if known is None:
        return _role_of_value(value)
    if known is ParameterRole.SESSION:
        return known if _TOKEN.match(value) else ParameterRole.NAME
    if known is ParameterRole.POSITION:
        return _position(name, value, path)
    if known is ParameterRole.NAME and name in _CONTROLS:
        return ParameterRole.ACTION if value.lower() in _VERBS else known
    # "?q=node/5" identifies a page.
    return ParameterRole.NAME if name in ("q", "s") and "/" in value else known


def _role_of_value(value: str) -> ParameterRole:
    if _DATE_VALUE.match(value):
        return ParameterRole.DATE
    if value.startswith(("/", "http://", "https://")):
        return ParameterRole.ACTION
    if _TOKEN.match(value):
        return ParameterRole.CODE
    return ParameterRole.VARIANT if _SUBSETS.match(value) else ParameterRole.OTHER


def _position(name: str, value: str, path: str) -> ParameterRole:
    """The role of a page number; "?p=12" at the root and "?page=about" identify a page."""
    if not value.lstrip("-").isdecimal():
        return ParameterRole.NAME
    root = path == "/" or path.endswith("/index.php")
    return ParameterRole.NAME if name == "p" and root else ParameterRole.POSITION
