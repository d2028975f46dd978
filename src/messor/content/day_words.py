"""Names of the days of the week in many languages, folded, by number from Monday: data.

A word that could be two days maps to the first of them.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended
from __future__ import annotations

DAYS_OF_WEEK: dict[int, str] = {
    0: """
        monday mon mo montag lundi lun lunes lunedi segunda segunda-feira maandag ma
        poniedzialek pon pn mandag man maanantai pondeli po pazartesi pzt понедельник пн
        понеділок δευτερα mandags luni
        hetfo pondelok ponedjeljak ponedeljek понеделник 月曜日 月曜 月 周一 星期一 월요일 월
    """,
    1: """
        tuesday tue tues tu dienstag di mardi mar martes martedi terca terca-feira ter
        dinsdag wtorek wt tisdag tis tirsdag tir tiistai ti utery ut sali sal вторник вт
        вівторок τριτη marti
        kedd utorok utorak torek 火曜日 火曜 火 周二 星期二 화요일 화
    """,
    2: """
        wednesday wed weds we mittwoch mi mercredi mer miercoles mie mercoledi quarta
        quarta-feira qua woensdag wo sroda sr onsdag ons keskiviikko ke streda st
        carsamba car среда ср середа τεταρτη miercuri
        szerda srijeda sreda сряда 水曜日 水曜 水 周三 星期三 수요일 수
    """,
    3: """
        thursday thu thur thurs th donnerstag do jeudi jeu jueves jue giovedi gio quinta
        quinta-feira qui donderdag czwartek czw czwartku torsdag tors tor torstai to
        ctvrtek ct persembe per четверг чт четвер πεμπτη joi
        csutortok stvrtok cetvrtak cetrtek четвъртък 木曜日 木曜 木 周四 星期四 목요일 목
    """,
    4: """
        friday fri fr freitag vendredi ven viernes vie venerdi sexta sexta-feira sex
        vrijdag vr vrij piatek pt piatku fredag fre perjantai pe patek pa cuma cum
        пятница пт пʼятниця п'ятниця παρασκευη vineri
        pentek piatok petak petek петък 金曜日 金曜 金 周五 星期五 금요일 금
    """,
    5: """
        saturday sat sa samstag sonnabend samedi sam sabado sab sabato zaterdag za zat
        sobota sob lordag lor lauantai la cumartesi cmt суббота сб субота σαββατο
        sambata
        szombat subota събота 土曜日 土曜 土 周六 星期六 토요일 토
    """,
    6: """
        sunday sun su sonntag dimanche dim domingo dom domenica zondag zo zon niedziela
        niedz nd so sondag son sunnuntai nedele ne pazar paz воскресенье вс неділя нд
        κυριακη duminica
        vasarnap nedela nedjelja nedelja неделя 日曜日 日曜 日 周日 星期日 星期天 일요일 일
    """,
}
