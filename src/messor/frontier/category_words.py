"""The words that name pages of each category, by language: data for `categories`.

Phrases are separated by commas and written normally; accents and umlauts are folded when loaded.
"=" marks a word that means something else within longer names: it counts only as a whole segment
or text. "!" marks one that means something else on many sites: it counts only as the whole path.
Scripts without spaces are matched anywhere in a text.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended
from __future__ import annotations

WORDS: dict[str, dict[str, str]] = {
    "about": {
        "en": "about, about us, about me, aboutus, our story, who we are, our team, meet the team,"
        "=team, =company, =the company, company profile, our company, !history, our history,"
        "our mission, !mission, our values, !leadership, !people, our people, !profile",
        "de": "über uns, ueberuns, wir über uns, über mich, =unternehmen, das unternehmen,"
        "unser team, =firma, firmenprofil, firmengeschichte, unternehmensprofil, !geschichte,"
        "=praxis, !philosophie",
        "fr": "à propos, a propos de nous, qui sommes nous, notre histoire, notre équipe, =équipe,"
        "=entreprise, notre entreprise, l entreprise, notre société",
        "es": "sobre nosotros, quiénes somos, quienes somos, acerca de, acerca de nosotros,"
        "nuestra historia, nuestro equipo, =nosotros, =empresa, la empresa, =equipo, conócenos",
        "it": "chi siamo, la nostra storia, =azienda, l azienda, il nostro team, =lo studio",
        "pt": "sobre nós, sobre a empresa, quem somos, nossa história, a empresa, =sobre,"
        "nossa equipe",
        "nl": "over ons, overons, wie zijn wij, wie we zijn, ons team, ons verhaal, over mij",
        "pl": "o nas, o firmie, o mnie, kim jesteśmy, nasz zespół, nasza historia, =zespół, =firma",
        "sv": "om oss, om företaget, vårt team, vår historia, om mig",
        "no": "om selskapet, om bedriften, vår historie, hvem er vi",
        "da": "om os, om virksomheden, hvem er vi, vores historie, om mig",
        "fi": "meistä, tietoa meistä, =yritys, tietoa yrityksestä, keitä olemme",
        "cs": "o nás, o společnosti, o firmě, kdo jsme, náš tým, =o mne",
        "tr": "hakkımızda, hakkinda, biz kimiz, =kurumsal, ekibimiz, =hikayemiz",
        "ru": "о нас, о компании, о фирме, о клинике, о магазине, кто мы, наша команда, =команда,"
        "=компания, о проекте, onas, o kompanii, o kompanii, o company",
        "uk": "про нас, про компанію, хто ми, наша команда, pro nas, pro kompaniyu",
        "el": "σχετικά, σχετικά με εμάς, ποιοι είμαστε, η εταιρεία, =εταιρεία, η ομάδα μας, =προφίλ",
        "ar": "من نحن, عن الشركة, عنا, نبذة عنا, معلومات عنا, فريقنا, =حولنا",
        "he": "אודות, אודותינו, מי אנחנו, קצת עלינו, עלינו, הצוות שלנו, =הצוות",
        "hi": "हमारे बारे में, हमारी टीम, कंपनी के बारे में, परिचय",
        "id": "tentang kami, tentang, tentang perusahaan, profil perusahaan, siapa kami",
        "ms": "mengenai kami, perihal kami, tentang kita",
        "vi": "giới thiệu, về chúng tôi, gioi thieu cong ty, =ve chung toi",
        "th": "เกี่ยวกับเรา, เกี่ยวกับ, ประวัติบริษัท",
        "zh": "关于我们, 關於我們, =关于, =關於, 公司简介, 公司簡介, 企业简介, 企業簡介, 公司介绍, 公司介紹, 走进, 认识我们,"
        "認識我們, 團隊介紹, 团队介绍",
        "ja": "会社概要, 会社案内, 会社情報, 企業情報, 私たちについて, 当社について, =について, 運営会社, 会社紹介, 当院について,"
        "gaiyo, kaishagaiyo",
        "ko": "회사소개, 회사 소개, =소개, 기업소개, 기업정보, 우리는",
    },
    "services": {
        "en": "services, service, our services, what we do, =solutions, our solutions, !features,"
        "=treatments, =capabilities, =expertise, our work, =offerings, !programs, =practice areas,"
        "=specialties, =procedures",
        "de": "leistungen, dienstleistungen, unsere leistungen, =leistung, leistungsspektrum,"
        "=angebot, unser angebot, =angebote, =behandlungen, =lösungen, =funktionen,"
        "leistungsübersicht, was wir tun",
        "fr": "nos services, prestations, nos prestations, =solutions, =soins, nos solutions,"
        "=fonctionnalités, ce que nous faisons",
        "es": "servicios, nuestros servicios, =soluciones, =tratamientos, qué hacemos,"
        "=funcionalidades",
        "it": "servizi, i nostri servizi, =soluzioni, =trattamenti, cosa facciamo, =servizio",
        "pt": "serviços, nossos serviços, =soluções, =tratamentos, o que fazemos, =funcionalidades",
        "nl": "diensten, onze diensten, dienstverlening, =behandelingen, =oplossingen, wat we doen",
        "pl": "usługi, nasze usługi, =oferta, nasza oferta, =zabiegi, =rozwiązania",
        "sv": "tjänster, våra tjänster, =behandlingar, =lösningar, vad vi gör",
        "no": "tjenester, våre tjenester, =behandlinger, =løsninger",
        "da": "ydelser, vores ydelser, tjenester, serviceydelser",
        "fi": "palvelut, palvelumme, =palvelu, =ratkaisut, =hoidot, mitä teemme",
        "cs": "služby, naše služby, =nabídka, =řešení",
        "tr": "hizmetler, hizmetlerimiz, =hizmet, =çözümler, =tedaviler",
        "ru": "услуги, наши услуги, =решения, uslugi, nashi uslugi, виды услуг",
        "uk": "послуги, наші послуги, poslugi, poslugy, posluhy",
        "el": "υπηρεσίες, οι υπηρεσίες μας, =υπηρεσία, =λύσεις",
        "ar": "خدماتنا, الخدمات, خدمات, =حلولنا",
        "he": "שירותים, השירותים שלנו, שירותי, =טיפולים, =פתרונות",
        "hi": "सेवाएं, सेवाएँ, हमारी सेवाएं, सेवा",
        "id": "layanan, layanan kami, =jasa, =solusi",
        "ms": "perkhidmatan, servis kami",
        "vi": "dịch vụ, các dịch vụ, =giải pháp",
        "th": "บริการ, บริการของเรา",
        "zh": "服务项目, 服務項目, 我们的服务, 我們的服務, 服务, 服務, 解决方案, 解決方案, 业务范围, 業務範圍, 診療項目",
        "ja": "サービス, 事業内容, 業務内容, 事業紹介, 診療案内, 施術内容, ソリューション",
        "ko": "서비스, 서비스 안내, 사업분야, 사업소개, 진료안내, 솔루션",
    },
    "pricing": {
        "en": "pricing, prices, price list, pricelist, =price, =plans, plans and pricing,"
        "pricing plans, =rates, our rates, =fees, fee schedule, =tariffs, =packages, !cost, !costs",
        "de": "preise, preisliste, preisübersicht, =preis, =tarife, =kosten, unsere preise,"
        "preise und tarife, honorar, =pakete",
        "fr": "tarifs, nos tarifs, =tarif, =prix, nos prix, grille tarifaire, =tarification, =honoraires",
        "es": "precios, tarifas, lista de precios, =tarifa, =precio, =planes, planes y precios",
        "it": "prezzi, listino, listino prezzi, tariffe, =prezzo, =costi, =piani",
        "pt": "preços, tabela de preços, =planos, planos e preços, preçário, =valores",
        "nl": "prijzen, tarieven, prijslijst, =tarief, =prijs, onze tarieven",
        "pl": "cennik, ceny, =cena, nasze ceny, =plany",
        "sv": "priser, prislista, =pris, våra priser",
        "no": "prisliste, våre priser",
        "da": "vores priser, =takster",
        "fi": "hinnasto, hinnat, =hinta, hinnoittelu",
        "cs": "ceník, ceny, =cena, ceník služeb",
        "tr": "fiyatlar, fiyatlandırma, fiyat listesi, fiyatlarımız, =fiyat, =ücretler, =paketler",
        "ru": "цены, прайс, прайс лист, стоимость, =тарифы, =цена, ceny, tseny, prays, prajs,"
        "=tarify, stoimost, цены и услуги",
        "uk": "ціни, прайс, вартість, =тарифи, tsiny, ciny",
        "el": "τιμές, τιμοκατάλογος, =κόστος, =πακέτα",
        "ar": "الأسعار, أسعار, أسعارنا, قائمة الأسعار, =الباقات",
        "he": "מחירים, מחירון, =מחיר, =תעריפים",
        "hi": "मूल्य, कीमत, मूल्य सूची, शुल्क, कीमतें",
        "id": "harga, daftar harga, =biaya, =paket",
        "ms": "senarai harga, =pakej",
        "vi": "bảng giá, =giá, báo giá, =chi phí",
        "th": "ราคา, อัตราค่าบริการ, แพ็กเกจ",
        "zh": "价格, 價格, 定价, 定價, 报价, 報價, 收费, 收費, 资费, 資費, 价目表, 價目表, 費用",
        "ja": "料金, 価格, 料金表, 料金プラン, 費用, ryokin, プラン一覧",
        "ko": "가격, 요금, 요금제, 가격표, 비용, 수가",
    },
    "contact": {
        "en": "contact, contact us, contactus, contacts, get in touch, find us, =directions,"
        "=locations, our locations, =location, =opening hours, =imprint, reach us, how to find us,"
        "contact form, =visit us, =store locator",
        "de": "kontakt, kontaktformular, kontaktieren, =anfahrt, =impressum, =standorte, =standort,"
        "=öffnungszeiten, so finden sie uns, ansprechpartner",
        "fr": "contactez nous, nous contacter, contactez, =coordonnées, =mentions légales,"
        "nous trouver, plan d accès, =horaires",
        "es": "contacto, contáctanos, contáctenos, contactar, =ubicación, dónde estamos, =horarios",
        "it": "contatti, contattaci, contatto, dove siamo, =orari, =sedi",
        "pt": "contato, contacto, contactos, contatos, fale conosco, fale connosco, entre em contato,"
        "onde estamos, =localização",
        "nl": "neem contact op, contactgegevens, contactformulier, =openingstijden, =vestigingen",
        "pl": "kontakty, =dojazd, skontaktuj się, dane kontaktowe, napisz do nas",
        "sv": "kontakta oss, kontakta, hitta hit, =öppettider",
        "no": "kontakt oss, =åpningstider, finn oss",
        "da": "kontakt os, =åbningstider, find os",
        "fi": "yhteystiedot, ota yhteyttä, yhteys, =yhteydenotto, =aukioloajat",
        "cs": "kontakty, kontaktujte nás, kde nás najdete, napište nám",
        "tr": "iletişim, bize ulaşın, bize ulasin, iletişim bilgileri",
        "ru": "контакты, связаться с нами, обратная связь, =адреса, =адрес, как добраться, kontakty,"
        "contacty, svyazatsya s nami, как проехать, наши контакты",
        "uk": "контакти, зв'язатися з нами, зворотний зв'язок, kontakti",
        "el": "επικοινωνία, επικοινωνήστε μαζί μας, =τοποθεσία, epikoinonia, epikinonia",
        "ar": "اتصل بنا, تواصل معنا, اتصل, الاتصال, تواصل, للتواصل, =فروعنا, =موقعنا",
        "he": "צור קשר, צרו קשר, יצירת קשר, דברו איתנו, =סניפים",
        "hi": "संपर्क, संपर्क करें, हमसे संपर्क करें",
        "id": "kontak, hubungi kami, kontak kami, =lokasi",
        "ms": "hubungi, hubungi kami",
        "vi": "liên hệ, thông tin liên hệ, lien he chung toi",
        "th": "ติดต่อเรา, ติดต่อ, =แผนที่",
        "zh": "联系我们, 聯繫我們, 聯絡我們, 联络我们, 联系方式, 聯絡, 联系, 聯繫",
        "ja": "お問い合わせ, お問合せ, お問合わせ, 問い合わせ, 連絡先, =アクセス, toiawase, otoiawase, contact",
        "ko": "문의, 문의하기, 연락처, 오시는 길, 오시는길, 고객문의, 찾아오시는",
    },
    "menu": {
        "en": "menu, menus, our menu, food menu, drinks menu, dinner menu, lunch menu, wine list,"
        "!food, !drinks, !food and drink, !breakfast, !lunch, !dinner, !desserts",
        "de": "speisekarte, speisekarten, speisen, getränkekarte, weinkarte, mittagskarte, menü,"
        "tageskarte, mittagstisch, =speiseplan",
        "fr": "notre carte, =la carte, !carte, nos menus, carte des vins, la carte et les menus",
        "es": "!carta, la carta, nuestra carta, menú del día, carta de vinos",
        "it": "menù, il menù, carta dei vini, il nostro menù",
        "pt": "cardápio, ementa, =carta de vinhos, nosso cardápio",
        "nl": "menukaart, !kaart, onze menukaart, wijnkaart, lunchkaart",
        "pl": "karta dań, jadłospis, karta menu",
        "sv": "meny, menyer, lunchmeny, =dagens lunch, vår meny",
        "no": "menyen, vår meny",
        "da": "menukort, menukortet, =spisekort",
        "fi": "ruokalista, =menut, =lounas, lounaslista, juomalista",
        "cs": "jídelní lístek, =jídelníček, denní menu, nápojový lístek",
        "tr": "menü, menümüz, yemek menüsü",
        "ru": "меню, наше меню, карта вин, menyu, menju",
        "uk": "наше меню, винна карта",
        "el": "μενού, το μενού μας, κατάλογος φαγητών",
        "ar": "قائمة الطعام, قائمة الطعام والشراب, المنيو, منيو",
        "he": "תפריט, התפריט שלנו, תפריטים, תפריט יין",
        "hi": "मेनू, मेन्यू",
        "id": "daftar menu, menu makanan",
        "ms": "menu kami",
        "vi": "thực đơn, thuc don",
        "th": "เมนู, เมนูอาหาร, รายการอาหาร",
        "zh": "菜单, 菜單, 餐牌, 菜谱, 菜品",
        "ja": "メニュー, お品書き, 御品書, お料理, ドリンクメニュー, oshinagaki",
        "ko": "메뉴, 메뉴판, 메뉴안내, 메뉴소개",
    },
    "products": {
        "en": "products, product, our products, =shop, =store, =catalog, =catalogue,"
        "product catalog, =collections, =collection, =items, =item, online shop, =shop all,"
        "=all products, product category, product range",
        "de": "produkte, produkt, unsere produkte, =sortiment, =katalog, produktkatalog,"
        "produktübersicht, =artikel, onlineshop, =warengruppe",
        "fr": "produits, produit, nos produits, =boutique, =catalogue, boutique en ligne",
        "es": "productos, producto, nuestros productos, =tienda, =catálogo, tienda online",
        "it": "prodotti, prodotto, i nostri prodotti, =negozio, =catalogo",
        "pt": "produtos, produto, nossos produtos, =loja, =catálogo, loja online",
        "nl": "producten, onze producten, =winkel, =assortiment, webwinkel, webshop",
        "pl": "produkty, nasze produkty, =sklep, =asortyment, sklep internetowy",
        "sv": "produkter, våra produkter, =butik, =sortiment, webbutik, webbshop",
        "no": "våre produkter, =nettbutikk, =produkt",
        "da": "vores produkter, =netbutik, =varer",
        "fi": "tuotteet, =tuote, tuotteemme, =kauppa, verkkokauppa, =valikoima",
        "cs": "produkty, naše produkty, =obchod, =zboží, =eshop",
        "tr": "ürünler, ürünlerimiz, =ürün, =mağaza, urunler",
        "ru": "товары, продукция, =каталог, каталог товаров, =магазин, =товар, интернет магазин,"
        "tovary, =katalog, produkciya, produktsiya, =tovar, =magazin",
        "uk": "товари, продукція, каталог товарів, =крамниця, tovari",
        "el": "προϊόντα, =προϊόν, τα προϊόντα μας, =κατάστημα, proionta",
        "ar": "المنتجات, منتجاتنا, منتجات, =المتجر, =تسوق",
        "he": "מוצרים, המוצרים שלנו, =חנות, =קטלוג, =מוצר",
        "hi": "उत्पाद, हमारे उत्पाद, =दुकान",
        "id": "produk, produk kami, =toko, =katalog",
        "ms": "=kedai, senarai produk",
        "vi": "sản phẩm, =cửa hàng, danh mục sản phẩm",
        "th": "สินค้า, ผลิตภัณฑ์, ร้านค้า",
        "zh": "产品中心, 產品中心, 产品, 產品, 商品, 产品展示, 商城, 产品列表",
        "ja": "製品, 商品, 製品情報, 商品一覧, 商品紹介, 取扱商品, shohin, seihin, オンラインショップ",
        "ko": "제품, 상품, 제품소개, 제품안내, 쇼핑몰",
    },
    "faq": {
        "en": "faq, faqs, f a q, frequently asked questions, =help, help center, help centre,"
        "=support, common questions, questions and answers, =questions, q and a, =qa, =qna,"
        "=helpcenter, =customer service, =customer support, knowledge base",
        "de": "häufige fragen, häufig gestellte fragen, fragen und antworten, =hilfe, =hilfecenter,"
        "=kundenservice",
        "fr": "foire aux questions, questions fréquentes, =aide, centre d aide",
        "es": "preguntas frecuentes, =ayuda, centro de ayuda, preguntas y respuestas",
        "it": "domande frequenti, =aiuto, =assistenza, domande e risposte",
        "pt": "perguntas frequentes, dúvidas frequentes, =ajuda, central de ajuda, =dúvidas",
        "nl": "veelgestelde vragen, veel gestelde vragen, vraag en antwoord, =klantenservice",
        "pl": "najczęściej zadawane pytania, pytania i odpowiedzi, częste pytania, =pomoc",
        "sv": "vanliga frågor, frågor och svar, =hjälp, =kundtjänst, =kundservice",
        "no": "ofte stilte spørsmål, vanlige spørsmål, spørsmål og svar, =hjelp",
        "da": "ofte stillede spørgsmål, spørgsmål og svar, =hjælp, =kundeservice",
        "fi": "usein kysyttyä, usein kysytyt kysymykset, =ukk, kysymykset ja vastaukset,"
        "=asiakaspalvelu, =ohjeet",
        "cs": "časté dotazy, často kladené otázky, =nápověda, otázky a odpovědi, =dotazy",
        "tr": "sıkça sorulan sorular, =sss, sık sorulan sorular, =yardım",
        "ru": "вопросы и ответы, часто задаваемые вопросы, частые вопросы, вопрос ответ, =помощь,"
        "voprosy i otvety, vopros otvet, =voprosy, =pomosch, =help",
        "uk": "поширені запитання, питання та відповіді, часті питання, =допомога",
        "el": "συχνές ερωτήσεις, ερωτήσεις και απαντήσεις, =βοήθεια",
        "ar": "الأسئلة الشائعة, أسئلة شائعة, الأسئلة المتكررة, =مساعدة, =المساعدة",
        "he": "שאלות נפוצות, שאלות ותשובות, =עזרה",
        "hi": "अक्सर पूछे जाने वाले प्रश्न, सामान्य प्रश्न, =सहायता",
        "id": "pertanyaan umum, tanya jawab, =bantuan, pertanyaan yang sering diajukan",
        "ms": "soalan lazim, soalan lazim dijawab",
        "vi": "câu hỏi thường gặp, hỏi đáp, =trợ giúp",
        "th": "คำถามที่พบบ่อย, ถามตอบ, ช่วยเหลือ",
        "zh": "常见问题, 常見問題, 常见问答, 常見問答, 帮助中心, 幫助中心, 问答, 問與答",
        "ja": "よくある質問, よくあるご質問, ご質問, ヘルプ, faq",
        "ko": "자주 묻는 질문, 자주묻는질문, 자주하는 질문, 자주하는질문, 도움말, 고객센터",
    },
}

# Below these are articles, archives and accounts, whatever words they use.
_BY_THE_WAY = """
    blog blogs news newsroom article articles post posts story stories press magazine journal tag
    tags author authors archive archives topic topics forum forums thread threads wiki recipe
    recipes review reviews comment comments feed podcast podcasts video videos event events
    calendar careers career jobs job guide guides insights tips glossary aktuelles nachrichten
    magazin ratgeber presse karriere stellen actualites actualite noticias noticia notizie novita
    nieuws aktualnosci nyheter nyhet nyheder uutiset ajankohtaista aktuality haberler haber
    novosti novini stati statya berita tin-tuc opinion politics sports sport world entertainment
    user users account my-account myaccount
"""
BY_THE_WAY = frozenset(each.replace("-", " ") for each in _BY_THE_WAY.split())
# Formal pages: terms, privacy, accounts. They often say "service" or "contact" and mean neither.
_FORMAL = """
    privacy terms policy policies conditions agreement disclaimer cookie cookies gdpr legal
    datenschutz datenschutzerklarung agb widerruf nutzungsbedingungen confidentialite cgv cgu
    privacidad privacidade terminos condiciones condizioni termos voorwaarden privacybeleid
    polityka prywatnosci regulamin login signin signup register logout cart basket checkout
    wishlist account password warenkorb anmelden panier carrito carrello konto integritetspolicy
    gizlilik konfidencialnosti newsletter unsubscribe sitemap
"""
FORMAL = frozenset(_FORMAL.split())
# Words that add nothing to a name.
_FILLERS = """
    the our my your and of for a an to in all page index home html main info us site web und
    unsere unser der die das wir alle zur zum et nos notre les des le la de du y nuestros
    nuestras nuestro el los las del e i il lo gli nostri nossos nossa os as da do onze ons het
    van en w na z nasze nasza vara vores var vare og och uns
"""
FILLERS = frozenset(_FILLERS.split())
_LANGUAGES = """
    en de fr es it pt nl pl sv no nb nn da fi cs sk tr ru uk ua el gr ar he iw hi id ms vi th
    zh cn tw jp ja ko kr hu ro bg hr sl sr et lv lt ga is mt ca eu gl fa ur bn ta te ml kn mr
    gu pa sw af sq mk bs ka hy az kk uz mn km lo my ne si tl cy us gb eng deu ger fra fre esp
    spa ita
"""
LANGUAGES = frozenset(_LANGUAGES.split())
