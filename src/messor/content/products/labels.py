"""Labels of product numbers and names, in the languages of most shops."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations


def _phrases(text: str) -> frozenset[str]:
    return frozenset(
        phrase.strip() for phrase in text.replace("\n", "|").split("|") if phrase.strip()
    )


SKU = _phrases("""sku|sku#|sku no|sku number|sku code|sku id|item|item no|item number|item #|item code|item id
ebay item number|product code|product id|product no|product number|product ref|product reference|product sku|product #
article|article number|article no|article code|art no|art. no|art.no|art.-nr|art.nr|art. nr|art-nr|artnr|artikelnr|artikel-nr
artikelnummer|artikel nr|artikel nummer|artikel|bestellnummer|bestell-nr|bestellnr|produktnummer|produktcode|produkt-nr
anzeigen-nr|anzeigennummer|anzeigen-id|style|style no|style number|style code|catalogue number|catalog number|catalog no
stock number|stock no|stock code|ref|ref no|reference|reference no|reference number
web id|dpci|tcin|asin|ad id|post id|listing id|listing no|id|code|cat no|upc/sku
référence|reference produit|référence produit|réf|ref produit|réf produit|code article|code produit|réf. produit|art
código|codigo|cód|cod|código do produto|código de producto|código del producto|código producto|cód. produto|referencia|referência
ref. produto|código de artículo|nº de artículo|n.º de artículo|sku del producto|modelo
codice|codice articolo|codice prodotto|cod. articolo|cod. prodotto|cod. art|cod.art|numero oggetto ebay|numéro de l'objet ebay|ebay-artikelnummer
número de artículo de ebay|productnummer|productcode|bestelcode|varenummer|varenr|vare nr|varunummer|artikelnr|tuotekoodi|tuotenumero|tuotenro
артикул|арт|код товара|код|код модели|артикул товара|артикул производителя|номер товара|код производителя
kod produktu|kod|symbol|indeks|numer katalogowy|nr katalogowy|sku produktu
kód|kód produktu|kód tovaru|kód zboží|kód výrobku|katalógové číslo|katalogové číslo|objednávací kód|číslo produktu|obj. kód|kat. číslo
šifra|šifra artikla|šifra izdelka|šifra proizvoda|kataloški broj|cikkszám|termékkód|cikkszam|cod produs|cod articol|кат. номер|каталожен номер|ürün kodu|stok kodu|ürün no|κωδικός|κωδικός προϊόντος
品番|型番|商品コード|商品番号|管理番号|商品編號|商品编号|商品代碼|商品代码|貨號|货号|商品號|品號|料號|商品id|상품번호|상품코드|상품 번호|품번|รหัสสินค้า|mã sản phẩm|mã sp|kode produk|kod produk
رقم المنتج|كود المنتج|رمز المنتج|رمز التخزين التعريفي|رقم الموديل|کد محصول|کد کالا|מק"ט|מק״ט|מקט|קוד מוצר|מספר קטלוגי""")

# Unambiguous labels.
STRONG_SKU = (
    SKU
    & _phrases("""sku|sku#|sku no|sku number|sku code|sku id|item number|item no|item #|ebay item number|product code|product id|product no|product number|product sku|article number|article no
art.-nr|art.nr|artikelnr|artikel-nr|artikelnummer|bestellnummer|bestell-nr|anzeigen-nr|référence|réf|código do produto|código de producto|codice articolo|codice prodotto|numero oggetto ebay|numéro de l'objet ebay|ebay-artikelnummer
productnummer|varenummer|артикул|код товара|kod produktu|kód produktu|kód tovaru|kód zboží|šifra|šifra artikla|šifra izdelka|cikkszám|ürün kodu|品番|商品コード|商品番号|商品編號|商品编号|貨號|상품번호|상품코드|รหัสสินค้า|mã sản phẩm|asin|ad id|מק"ט|מק״ט""")
)

BRAND = _phrases("""brand|brand name|manufacturer|maker|make|make/manufacturer|marke|hersteller|produzent|marque|fabricant|marca|fabricante|produttore|produttore/marca|merk|fabrikant
märke|varumärke|tillverkare|merke|produsent|mærke|producent|brand/merk|valmistaja|tuotemerkki|marka|producent|značka|výrobce|výrobca|znamka|blagovna znamka|proizvajalec|proizvođač|brend|robna marka|gyártó|márka|producător|brand produs
бренд|производитель|торговая марка|марка|виробник|торгова марка|μάρκα|κατασκευαστής|üretici|marka adı|ブランド|メーカー|メーカー名|品牌|廠牌|品牌名稱|브랜드|제조사|브랜드명|thương hiệu|hãng sản xuất|ยี่ห้อ|แบรนด์|merek|jenama
الماركة|العلامة التجارية|اسم العلامة التجارية|برند|מותג|יצרן""")

GTIN = _phrases("""ean|ean code|ean-code|ean kód|ean13|ean-13|ean-nr|ean nummer|ean:|gtin|gtin-13|gtin13|upc|upc code|isbn|isbn-13|isbn13|isbn-10|isbn/ean|ean/isbn|ean / isbn|jan|jan code|janコード|jan|barcode|bar code
codice ean|código de barras|codigo de barras|código ean|code-barres|code barre|ean / gtin|штрихкод|штрих-код|čiarový kód|čárový kód|kod kreskowy|kod ean|vonalkód|條碼|国际条码|國際條碼|바코드|ean-kod|ean-koodi|streckkod|strekkode|stregkode|barkod|strichcode|gtin/ean""")

MPN = _phrases(
    """mpn|item model number|model number|model no|manufacturer part number|mfr part number|mfg part|part number|herstellernummer|hersteller-nr|herstellerartikelnummer|référence fabricant|codice produttore|codice del produttore|part no|p/n|číslo dielu|part numero|kod producenta|modellnummer|numéro du modèle de l'article|numero modello articolo|modellnummer des artikels"""
)


ANY = SKU | BRAND | GTIN | MPN
