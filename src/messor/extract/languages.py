"""The language a text is written in, measured by its letters; what a page claims is not asked."""

from __future__ import annotations

from turbohtml.detect import detect_language

_ENOUGH = 120  # characters
_FIRST = 800  # of these mostly enough is known, at half the cost
_PLENTY = 2_000
_SURE = 0.8
_AT_ONCE = 0.95

# ISO 639-3, as the detector answers, to the two letters of ISO 639-1.
_CODES = """
    afr:af ara:ar arb:ar aze:az azj:az bel:be ben:bn bos:bs bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da
    deu:de ell:el eng:en est:et eus:eu fas:fa pes:fa fin:fi fra:fr gle:ga glg:gl guj:gu heb:he hin:hi
    hrv:hr hun:hu hye:hy ind:id isl:is ita:it jpn:ja kan:kn kat:ka kaz:kk khm:km kor:ko lav:lv lit:lt
    mal:ml mar:mr mkd:mk mya:my nep:ne nld:nl nno:nn nob:nb nor:no pan:pa pol:pl por:pt ron:ro rus:ru
    sin:si slk:sk slv:sl spa:es sqi:sq srp:sr swe:sv swa:sw swh:sw tam:ta tel:te tgl:tl tha:th tur:tr
    ukr:uk urd:ur uzb:uz vie:vi zho:zh zlm:ms zsm:ms msa:ms
"""
_TWO_LETTERS = dict(pair.split(":") for pair in _CODES.split())


def written_in(text: str) -> str:
    """The language of a text as two letters; nothing when it is too short or not clear."""
    if len(text) < _ENOUGH:
        return ""
    found = detect_language(text[:_FIRST])
    if len(text) > _FIRST and (found.language is None or found.confidence < _AT_ONCE):
        found = detect_language(text[:_PLENTY])
    if found.language is None or found.confidence < _SURE:
        return ""
    return _TWO_LETTERS.get(found.language, "")
