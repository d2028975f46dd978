"""Currencies: the signs, abbreviations and words that stand for them next to an amount.

A sign identifies a currency only if it is unambiguous: "$" and "kr" are not.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ISO_CODES = _words(
    """AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN
    BWP BYN BYR BZD CAD CDF CHF CLF CLP CNH CNY COP CRC CUC CUP CVE CZK DEM DJF DKK DOP DZD EEK EGP
    ERN ESP ETB EUR FIM FJD FKP FRF GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR IEP ILS
    INR IQD IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL
    LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NLG NOK NPR NZD OMR
    PAB PEN PGK PHP PKR PLN PTE PYG QAR RON RSD RUB RUR RWF SAR SBD SCR SDG SEK SGD SHP SKK SLE SLL
    SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT TND TOP TRL TRY TTD TWD TZS UAH UGX USD UYU UZS VEF
    VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"""
)

# Codes that are common words in capitals: they count only directly next to an amount.
CODES_LIKE_WORDS = _words("ALL ANG BAM COP CUP GEL MAD MOP PEN RON SOS STD TOP TRY")

# In these currencies a point before three digits is a decimal point.
THREE_DECIMALS = _words("BHD IQD JOD KWD LYD OMR TND")

# These currencies are written without decimals.
NO_DECIMALS = _words("CLP COP IDR IRR ISK JPY KRW LAK PYG UGX VND XAF XOF XPF")

# Signs used in place of a code; each identifies its currency anywhere in a text.
SIGNS = {
    "AED": "د.إ", "AFN": "؋", "AMD": "֏ դր. դր", "ARS": "AR$", "AUD": "AU$ A$", "AWG": "Afl.",
    "AZN": "₼", "BBD": "Bds$", "BDT": "৳ টকা Tk.", "BGN": "лв. лв", "BND": "BN$ B$", "BOB": "Bs.",
    "BRL": "R$", "BTC": "₿", "BYN": "Br.", "BZD": "BZ$", "CAD": "CA$ C$ CDN$ Can$ CND CDN",
    "CHF": "SFr. sFr. SFr Fr. CHf", "CLP": "CL$", "CNY": "CN¥ RMB 元 人民币", "COP": "CO$",
    "CRC": "₡", "CUC": "CUC$", "CZK": "Kč kč Kčs", "DOP": "RD$", "DZD": "د.ج دج",
    "EGP": "E£ ج.م جنيه", "ERN": "ናቕፋ نافكا", "ETB": "ብር", "EUR": "€ ευρώ евро", "FJD": "FJ$",
    "GBP": "£ ￡ GBp stg", "GEL": "₾ ლარი", "GHS": "GH₵ GH¢ ₵", "GYD": "GY$", "HKD": "HK$ 港幣",
    "HUF": "Ft HUf", "IDR": "Rp Rp.", "ILS": '₪ ש״ח ש"ח ש\'\'ח ש’’ח ש״ח ش.ج', "INR": "₹ रु.",
    "IQD": "ع.د", "IRR": "تومان ریال", "ISK": "íkr.", "JMD": "J$", "JOD": "د.أ د.ا",
    "JPY": "円 JP¥", "KES": "KSh Ksh KES.", "KHR": "៛", "KRW": "₩ 원", "KWD": "د.ك دينار\xa0كويتي KD",
    "KZT": "₸ тенге тг. тг", "LAK": "₭", "LBP": "LB£ L£ ل.ل", "LKR": "රු", "LYD": "ل.د", "MAD": "د.م.",
    "MKD": "ден. ДЕН ден", "MMK": "Ks.", "MNT": "₮ төгрөг", "MOP": "MOP$", "MXN": "MX$ Mex$ MXN$",
    "MYR": "RM", "NGN": "₦", "NIO": "C$N", "NPR": "नेरू रू", "NZD": "NZ$ NZD$", "OMR": "ر.ع.",
    "PAB": "B/.", "PEN": "S/. S/", "PHP": "₱ Php PHp", "PKR": "₨ روپے", "PLN": "zł Zł ZŁ złotych zl zlotych",
    "PYG": "₲", "QAR": "ر.ق", "RON": "lei Lei LEI leu", "RSD": "din. дин. Дин дин Dinara dinara RSd",
    "RUB": "₽ рублей рубля рубль руб. руб Руб. Руб РУБ. РУБ RUr", "SAR": "ر.س ريال ﷼ SR",
    "SDG": "ج.س. ج.س", "SEK": "SEk", "SGD": "S$ SG$", "SYP": "SY£ ل.س", "THB": "฿ บาท",
    "TND": "د.ت DT", "TOP": "T$", "TRY": "₺ TL", "TTD": "TT$", "TWD": "NT$ 新台幣",
    "TZS": "TSh", "UAH": "₴ грн. грн Грн hrn", "UGX": "USh", "USD": "US$ US\xa0$ U.S.$ USD$ dollars",
    "UYU": "$U", "UZS": "so'm soʻm сум", "VND": "₫ đ VNĐ vnđ đồng", "VUV": "VT", "WST": "WS$",
    "XAF": "FCFA F\xa0CFA CFA", "XCD": "EC$", "YER": "ر.ي", "ZWL": "Z$",
}  # fmt: skip

# These mark a price but do not identify its currency.
VAGUE_SIGNS = _words(
    "$ ¥ ￥ kr. kr Kr. Kr KR ,- ₤ ƒ ₶ ₣ ₧ ₠ ₢ ₯ ₰ ₳ ₷ ℳ ރ ৲ ૱ ௹ Rs. Rs RS. rs. ￠ ¢ "
    "francs franc pounds pound dollar euros euro Euros Euro EURO €uro p. р. Р P. Br "
    "Lek Nu. Nu FBu BD Fdj UM FG KM MK DA NT nt"
)

# Short or common words that are signs only when alone with an amount.
BARE_SIGNS = {
    "AOA": "Kz", "BAM": "KM", "BWP": "P", "CDF": "FC", "CVE": "Esc", "ETB": "Br", "GEL": "lari",
    "GMD": "D", "GTQ": "Q", "HNL": "L", "HTG": "G", "INR": "Re", "KGS": "с som сом", "LSL": "M",
    "MGA": "Ar", "MVR": "Rf", "MZN": "MT", "PGK": "K", "STN": "Db", "SZL": "E", "TJS": "SM",
    "UAH": "hryvnia", "ZAR": "R", "ZMW": "ZK", "": "Р р с L l F f د. د.م ID ден KM i",
}  # fmt: skip
