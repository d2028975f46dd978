"""Names of the months in many languages, folded (lower case, no accents), by number: data."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended
from __future__ import annotations

MONTHS: dict[int, str] = {
    1: """
        january jan januar janner janvier janv enero ene gennaio gen janeiro januari
        stycznia styczen januara tammikuuta tammikuu tammikuun ledna leden ocak oca
        января январь янв січня ιανουαριου ianuarie
    """,
    2: """
        february feb februar feber fevrier fevr fev febrero febbraio febr fevereiro
        februari lutego luty helmikuuta helmikuu helmikuun unora unor subat sub февраля
        февраль фев лютого φεβρουαριου februarie
    """,
    3: """
        march mar marz maerz mrz mars marzo marco maart mrt marca marzec maaliskuuta
        maaliskuu maaliskuun brezna brezen mart марта март мар березня μαρτιου martie
        marts
    """,
    4: """
        april apr avril avr abril abr aprile kwietnia kwiecien huhtikuuta huhtikuu
        huhtikuun dubna duben nisan nis апреля апрель апр квітня απριλιου aprilie
    """,
    5: """
        may mai mayo maggio mag maio mei maja maj toukokuuta toukokuu toukokuun kvetna
        kveten mayis мая май травня μαιου
    """,
    6: """
        june jun juni juin junio giugno giu junho czerwca czerwiec kesakuuta kesakuu
        kesakuun cervna cerven haziran haz июня июнь июн червня ιουνιου iunie
    """,
    7: """
        july jul juli juillet juil julio luglio lug julho lipca lipiec heinakuuta
        heinakuu heinakuun cervence cervenec temmuz tem июля июль июл липня ιουλιου
        iulie
    """,
    8: """
        august aug aout agosto ago augustus sierpnia sierpien elokuuta elokuu elokuun
        srpna srpen agustos augusti августа август авг серпня αυγουστου
    """,
    9: """
        september sep sept septembre septiembre settembre set setembro wrzesnia wrzesien
        syyskuuta syyskuu syyskuun zari eylul eyl сентября сентябрь сен вересня
        σεπτεμβριου septembrie
    """,
    10: """
        october oct oktober okt octobre octubre ottobre ott outubro out pazdziernika
        pazdziernik lokakuuta lokakuu lokakuun rijna rijen ekim eki октября октябрь окт
        жовтня οκτωβριου octombrie
    """,
    11: """
        november nov novembre noviembre novembro listopada listopad marraskuuta
        marraskuu marraskuun listopadu kasim ноября ноябрь ноя листопада νοεμβριου
        noiembrie
    """,
    12: """
        december dec dezember dez decembre diciembre dic dicembre dezembro grudnia
        grudzien joulukuuta joulukuu joulukuun prosince prosinec aralik декабря декабрь
        дек грудня δεκεμβριου decembrie
    """,
}
