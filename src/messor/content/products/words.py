"""Shop vocabulary, in the languages of most shops."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

# Program names of stock states, without spaces and in lower case.
STATES = {
    "instock": "in_stock", "in": "in_stock", "available": "in_stock", "instoreonly": "in_stock",
    "onlineonly": "in_stock", "limitedavailability": "in_stock", "limitedstock": "in_stock",
    "lowstock": "in_stock", "availablenow": "in_stock", "true": "in_stock", "yes": "in_stock",
    "availablefororder": "in_stock", "buyable": "in_stock", "madetoorder": "in_stock",
    "outofstock": "out_of_stock", "out": "out_of_stock", "oos": "out_of_stock",
    "soldout": "out_of_stock", "unavailable": "out_of_stock", "notavailable": "out_of_stock",
    "false": "out_of_stock", "no": "out_of_stock", "outstock": "out_of_stock",
    "discontinued": "discontinued", "preorder": "preorder", "presale": "preorder",
    "backorder": "backorder", "backordered": "backorder", "reserved": "out_of_stock",
    "pending": "preorder",
}  # fmt: skip


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in " ".join(text.split()).split("|"))


def mentions(low: str, phrases: Sequence[str]) -> bool:
    """Whether a lower-case text contains one of the phrases; faster than any() over a generator."""
    for phrase in phrases:  # noqa: SIM110
        if phrase in low:
            return True
    return False


def kinds_in(lows: Sequence[str], words: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return, for each lower-case text, the kinds of the words it contains."""
    if not lows:
        return []
    joined = "\n".join(lows)
    ends = list(accumulate([len(low) + 1 for low in lows]))
    kinds = [""] * len(lows)
    for kind, own in words:
        places: set[int] = set()
        for word in own:
            at = joined.find(word)
            while at >= 0:
                place = bisect_right(ends, at)
                places.add(place)
                at = joined.find(word, ends[place])
        for place in places:
            kinds[place] += kind
    return kinds


# Phrases are matched literally in lower case; a stem covers its endings.
OUT_OF_STOCK = _phrases("""
out of stock | out-of-stock | sold out | sold-out | unavailable | not available | not in stock
| not currently available | no longer available | no longer sold | temporarily out | 0 in stock
| listing has ended | listing ended | discontinued | isn't available
| nicht mehr auf lager | nicht mehr verfügbar | nicht mehr lieferbar | nicht mehr vorrätig
| nicht mehr erhältlich | nicht auf lager | nicht verfügbar | nicht lieferbar | nicht vorrätig
| nicht erhältlich | nicht bestellbar | ausverkauft | vergriffen
| rupture de stock | indisponible | épuisé | non disponible | plus disponible | pas disponible
| agotado | agotada | sin stock | sin existencias | no disponible | fuera de stock
| esgotado | esgotada | indisponivel | indisponível | sem stock | sem estoque
| esaurito | non è disponibile | attualmente non disponibile | non disponibile | non acquistabile
| uitverkocht | niet op voorraad | niet beschikbaar | niet leverbaar
| udsolgt | ikke på lager | utsolgt | slutsåld | ej i lager | slut i lager | loppuunmyyty
| wyprzedan | niedostępn | brak w magazynie | brak towaru | produkt niedost
| vyprodáno | není skladem | vypredan | nie je skladom | nedostupn | razprodan | ni na zalogi
| nema na zalihi | rasprodano | elfogyott | nincs raktáron | nincs készleten
| stoc epuizat | indisponibil | нет в наличии | нет на складе | распродан | закончил
| немає в наявності | изчерпан | εξαντλ | tükendi | stokta yok
| 品切れ | 在庫切れ | 在庫なし | 売り切れ | 取り扱いできません | 售完 | 已售罄 | 缺貨 | 缺货 | 無庫存 | 補貨中
| 품절 | 매진 | hết hàng | สินค้าหมด | habis terjual | stok habis
| نفد | غير متوفر | غير متاح | ناموجود | אזל | לא זמין | לא במלאי | אינו במלאי
""")

IN_STOCK = _phrases("""
in stock | in-stock | available | add to cart | add to basket | add to bag | add to trolley
| add to order | add to shopping | buy it now | buy now | ready to ship | ships in | ships within
| ships from | order now | get it by | get it today | book now | buy ticket | place bid
| auf lager | verfügbar | lieferbar | vorrätig | in den warenkorb | in den einkaufskorb
| in den korb | in den einkaufswagen | jetzt kaufen | sofort-kaufen | sofort kaufen
| lieferung in | lieferung bis | in die tasche | erhältlich bei
| en stock | disponible | ajouter au panier | ajouter au sac | achat immédiat | acheter
| en existencia | añadir a la cesta | añadir al carrito | agregar al carrito | comprar | cómpralo
| em stock | em estoque | disponível | adicionar ao | disponibile | disponibilità immediata
| aggiungi al carrello | compralo subito | acquista
| op voorraad | leverbaar | in winkelwagen | in mijn winkel | beschikbaar
| på lager | i lager | læg i kurv | legg i handle | lägg i | köp | varastossa | ostoskoriin
| dostępn | do koszyka | kup teraz | w magazynie | skladem | skladom | do košíku | do košíka
| kúpiť | koupit | na sklade | na skladě | raktáron | készleten | kosárba
| în stoc | in stoc | adaugă în coș | adauga in cos | na zalogi | dobavljivo | v košarico
| na zalihi | u košaricu | dodaj u | naroči | в наличии | в корзину | купить | на складе
| в наявності | купити | до кошика | налично | в количката | διαθέσιμο | στο καλάθι
| stokta | sepete ekle | hemen al | 在庫あり | カートに | 購入 | 加入购物车 | 加入購物車 | 立即购买 | 立即購買
| 現貨 | 有货 | 有貨 | 馬上買 | 直接購買 | 放入購物車 | 我要購買 | 線上購買 | 立即搶購 | 장바구니 | 구매
| thêm vào giỏ | mua ngay | còn hàng | หยิบใส่ตะกร้า | ซื้อ | tambah ke keranjang
| beli sekarang | masukkan keranjang | أضف إلى | اضف | متوفر | متاح | اشتر | افزودن به سبد
| הוסף לסל | הוספה לסל | במלאי | קנה עכשיו | לרכישה | הוסף לעגלה
""")

# In buttons and notes only: a line by itself may link to a shop's terms.
PREORDER = _phrases("""
pre-order | preorder now | preorder this | vorbestell | précommand | pré-commander | reservar ahora
| preordina | pré-venda | pre-bestel | förbeställ | forhåndsbestil | przedsprzedaż | předobjedn | предзаказ
| 予約受付 | 予約する | 预售 | 預購 | 예약구매
""")

# Headings of lists of other products, which end the page's own content.
OTHERS = _phrases("""
similar | related | recommended | you may also | you might also | customers also | also bought
| also viewed | recently viewed | sponsored | went on to buy | frequently bought | more from
| ähnliche | passende | kunden kauften | kunden, die | zuletzt angesehen | das könnte | gesponsert
| produits similaires | vous aimerez | les clients ont | également | similaires | sponsorisé
| productos relacionados | también te | similares | relacionados | também | patrocinado
| prodotti simili | potrebbe interessarti | hanno acquistato | sponsorizzat | correlati
| gerelateerd | vergelijkbare | andere klanten | relaterede | liknande | lignende | podobn
| andra köpte | andra kunder | andre kjøpte | andre købte | andre kunder
| související | súvisiace | hasonló | похожие | с этим товаром | сопутствующие | схожі
| benzer | 関連商品 | おすすめ | 相關商品 | 推薦 | 추천 | 관련 | sản phẩm tương tự | منتجات مشابهة | מוצרים דומים
""")

# Text before a former price, or one of other sellers.
OLD_LABELS = _phrases("""
was | rrp | msrp | list price | old price | regular price | retail price | instead of | save
| you save | shipping | delivery | uvp | statt | bisher | versand | prix conseillé | au lieu
| livraison | antes | precio anterior | envío | de: | prezzo consigliato | invece di | spedizione
| adviesprijs | verzend | tidligere | ordinarie | cena regularna | najniższa cena | původní cena
| běžná cena | bežná cena | старая цена | доставка | 原價 | 建議售價 | 定價 | 市價 | 定価 | 参考価格 | 정가
| per month | monatlich | par mois | al mese | 每期 | 運費 | 送料
""")

# The same within a line, before its price: "De: R$ 599,90".
OLD_BEGINNING = re.compile(
    rf"[^\d]{{0,20}}?(?<![^\W\d_])(?:{'|'.join(map(re.escape, OLD_LABELS))})(?![a-zà-ÿ])"
)

# Parts of a page whose prices belong to other items.
ELSEWHERE = re.compile(
    r"relat|recom|similar|carousel|slider|cross-?sell|up-?sell|also|alternativ|sponsor|recent|viewed|mini-?cart|minicart"
    r"|basket|bundle|accessor|suggest|teaser|footer|\bnav|navigation|breadcrumb|compar|shipping|delivery|versand"
    r"|installment|financ|monthly|credit|loyalty|points|coupon|voucher|wishlist|menu|header|popular|bestsell|trending",
    re.IGNORECASE,
)
OLD_PRICE = re.compile(
    r"(?<![gshfbc])old|was|list-?price|listprice|rrp|msrp|uvp|strike|cross|before|previous|regular|original|retail|reference|std|base-?price|compare"
    r"|conv|swatch|twister|option|save|saving|discount|unit|per-?|instal|monthly|month|shipping|delivery|tax|vat-|min-?price|max-?price|range|from",
    re.IGNORECASE,
)
# Parts that are hidden, possibly until later.
OFF_STAGE = re.compile(
    r"hidden|hide|template|variation|alert|error|image|modal|popup|notify|swatch|tooltip|favou?rit|wish",
    re.IGNORECASE,
)

# Names of elements that hold a price, a stock note or an article number.
PRICE_NAMES = (
    "price", "preis", "prix", "prezzo", "precio", "preco", "cena", "fiyat", "hinta", "prijs",
    "pris-", "-pris", "tsena",
)  # fmt: skip
BUTTON_NAMES = ("cart", "buy", "btn", "button", "basket", "order", "kauf")
BRAND_NAMES = ("brand", "manufacturer", "hersteller", "marque", "byline", "fabricant")
STOCK_NAMES = ("stock", "avail", "lager", "dispon", "sold")
NUMBER_NAMES = (
    "sku", "product-code", "productcode", "product_code", "product-reference", "product-number",
    "productnumber", "product-id", "item-number", "itemnumber", "article-number",
    "articlenumber", "artikelnummer", "article-id", "adno", "referencia", "artnr", "prd-code",
)  # fmt: skip

CART_WORDS = (
    "cart", "basket", "checkout", "warenkorb", "einkaufswagen", "panier", "carrito", "cesta",
    "carrinho", "carrello", "winkelwagen", "kurv", "koszyk", "košík", "kosár", "košaric", "корзин",
    "кошик", "sepet", "καλάθι", "購物車", "购物车", "カート", "장바구니", "giỏ hàng", "keranjang", "עגל",
    "السلة", "سبد خرید",
)  # fmt: skip
