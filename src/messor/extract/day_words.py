"""Names of the days of the week in many languages, folded, by number from Monday: data.

A word that could be two days is the first of them.
"""

# ruff: noqa: RUF001 - letters of other scripts that look like Latin ones are the point here
from __future__ import annotations

DAYS_OF_WEEK: dict[int, str] = {
    0: """
        monday mon mo montag lundi lun lunes lunedi segunda segunda-feira maandag ma
        poniedzialek pon pn mandag man maanantai pondeli po pazartesi pzt понедельник пн
        понеділок δευτερα mandags luni
    """,
    1: """
        tuesday tue tues tu dienstag di mardi mar martes martedi terca terca-feira ter
        dinsdag wtorek wt tisdag tis tirsdag tir tiistai ti utery ut sali sal вторник вт
        вівторок τριτη marti
    """,
    2: """
        wednesday wed weds we mittwoch mi mercredi mer miercoles mie mercoledi quarta
        quarta-feira qua woensdag wo sroda sr onsdag ons keskiviikko ke streda st
        carsamba car среда ср середа τεταρτη miercuri
    """,
    3: """
        thursday thu thur thurs th donnerstag do jeudi jeu jueves jue giovedi gio quinta
        quinta-feira qui donderdag czwartek czw czwartku torsdag tors tor torstai to
        ctvrtek ct persembe per четверг чт четвер πεμπτη joi
    """,
    4: """
        friday fri fr freitag vendredi ven viernes vie venerdi sexta sexta-feira sex
        vrijdag vr vrij piatek pt piatku fredag fre perjantai pe patek pa cuma cum
        пятница пт пʼятниця п'ятниця παρασκευη vineri
    """,
    5: """
        saturday sat sa samstag sonnabend samedi sam sabado sab sabato zaterdag za zat
        sobota sob lordag lor lauantai la cumartesi cmt суббота сб субота σαββατο
        sambata
    """,
    6: """
        sunday sun su sonntag dimanche dim domingo dom domenica zondag zo zon niedziela
        niedz nd so sondag son sunnuntai nedele ne pazar paz воскресенье вс неділя нд
        κυριακη duminica
    """,
}
