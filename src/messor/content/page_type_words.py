"""Words of URLs, titles and buttons that indicate page types, in many languages: data.

All are folded: lower case, no accents. Names of site categories (about, contact, menu and so on)
are in `frontier.category_words`.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended
from __future__ import annotations


def _table(rows: dict[tuple[str, float], str]) -> dict[str, tuple[str, float]]:
    return {word.strip(): sign for sign, words in rows.items() for word in words.split(",")}


# A whole path segment → type, weight.
SEGMENTS = _table(
    {
        ("article", 1.5): "article,articles,news,story,stories,blog,blogs,post,posts,press,"
        "press-release,press-releases,nachrichten,aktuelles,artikel,magazin,ratgeber,actualites,"
        "actualite,noticias,noticia,notizie,nieuws,aktualnosci,nyheter,nyheder,uutiset,novosti,"
        "haber,haberler,berita,opinion,politics,sport,sports,world,entertainment,business,"
        "technology,culture,local,insights,wiki,archives,archive",
        ("product", 1.5): "product,products,p,dp,item,items,itm,pd,prod,produkt,produkte,produit,"
        "produits,producto,productos,prodotto,prodotti,produto,produtos,produkty,tuote,artikel-nr,"
        "sku,shop,store,buy,gp,ip",
        ("listing", 1.5): "category,categories,cat,collections,collection,tag,tags,topics,topic,"
        "product-category,kategorie,kategorien,categoria,categorias,categorie,kategoria,katalog,"
        "catalog,catalogue,brands,brand,marken,directory,authors,sortiment,c,browse,department",
        ("search", 2.0): "search,suche,recherche,buscar,busqueda,cerca,zoeken,szukaj,sok,haku,"
        "results,search-results",
        ("legal", 2.5): "privacy,privacy-policy,privacy-notice,terms,terms-of-service,terms-of-use,"
        "terms-and-conditions,legal,legal-notice,imprint,impressum,datenschutz,"
        "datenschutzerklaerung,datenschutzerklarung,agb,widerruf,widerrufsbelehrung,"
        "nutzungsbedingungen,mentions-legales,confidentialite,cgv,cgu,aviso-legal,privacidad,"
        "politica-de-privacidad,terminos,condiciones,note-legali,condizioni,termos,privacidade,"
        "voorwaarden,algemene-voorwaarden,privacybeleid,privacyverklaring,polityka-prywatnosci,"
        "regulamin,cookie-policy,cookies,disclaimer,gdpr,integritetspolicy,personvern,"
        "tietosuoja,tietosuojaseloste,ochrana-osobnich-udaju,gizlilik,accessibility,"
        "barrierefreiheit",
        ("login", 2.5): "login,signin,sign-in,log-in,anmelden,connexion,iniciar-sesion,accedi,"
        "entrar,inloggen,logowanie,logga-in,kirjaudu,prihlaseni,giris,register,signup,sign-up,"
        "registrieren,inscription,registro,password-reset,forgot-password,auth",
        ("cart", 2.5): "cart,basket,checkout,warenkorb,kasse,panier,carrito,carrello,winkelwagen,"
        "koszyk,varukorg,kosik,sepet",
        ("error", 2.5): "404,error,not-found,notfound",
        ("event", 1.5): "event,events,veranstaltung,veranstaltungen,evenement,evenements,evento,"
        "eventos,eventi,evenementen,wydarzenia,evenemang,tapahtumat,akce,termine,kalender",
        ("job", 1.8): "jobs,job,careers,career,karriere,stellenangebote,stellen,vacancies,vacancy,"
        "emploi,emplois,recrutement,empleo,lavora-con-noi,vagas,vacatures,praca,kariera,lediga-jobb",
        ("faq", 1.5): "faq,faqs,help,hilfe,aide,ayuda",
    }
)

# A phrase in the title → type, weight.
TITLES = _table(
    {
        ("error", 2.5): "not found,page not found,seite nicht gefunden,nicht gefunden,"
        "page introuvable,page non trouvee,pagina no encontrada,pagina non trovata,"
        "pagina nao encontrada,pagina niet gevonden,nie znaleziono,strona nie istnieje,"
        "sidan hittades inte,sivua ei loytynyt,stranka nenalezena,sayfa bulunamadi,"
        "страница не найдена,сторінку не знайдено,error 404,404 error,access denied,"
        "something went wrong,service unavailable,internal server error,bad gateway",
        ("login", 2.2): "login,log in,sign in,sign up,register,anmelden,anmeldung,einloggen,"
        "registrierung,connexion,se connecter,iniciar sesion,accedi,entrar,iniciar sessao,"
        "inloggen,logowanie,zaloguj sie,logga in,kirjaudu,prihlaseni,giris yap,вход,вхід,"
        "forgot password,reset password,passwort vergessen",
        ("legal", 2.5): "privacy policy,privacy notice,terms of service,terms of use,"
        "terms and conditions,terms conditions,cookie policy,legal notice,imprint,impressum,"
        "datenschutz,datenschutzerklarung,agb,allgemeine geschaftsbedingungen,widerrufsbelehrung,"
        "nutzungsbedingungen,mentions legales,politique de confidentialite,"
        "conditions generales,aviso legal,politica de privacidad,terminos y condiciones,"
        "note legali,informativa privacy,politica de privacidade,termos de uso,"
        "algemene voorwaarden,privacybeleid,privacyverklaring,polityka prywatnosci,regulamin,"
        "integritetspolicy,tietosuojaseloste,ochrana osobnich udaju,gizlilik politikasi,"
        "политика конфиденциальности,політика конфіденційності",
        ("search", 1.8): "search results,suchergebnisse,resultats de recherche,"
        "resultados de busqueda,risultati della ricerca,zoekresultaten,wyniki wyszukiwania,"
        "sokresultat,hakutulokset",
        ("cart", 2.2): "shopping cart,your cart,your basket,checkout,warenkorb,panier,carrito,"
        "carrello,winkelwagen,koszyk,varukorg",
        ("faq", 1.8): "faq,faqs,frequently asked questions,haufige fragen,haufig gestellte fragen,"
        "foire aux questions,questions frequentes,preguntas frecuentes,domande frequenti,"
        "perguntas frequentes,veelgestelde vragen,najczesciej zadawane pytania,vanliga fragor,"
        "ofte stilte sporsmal,ofte stillede sporgsmal,usein kysyttya,caste dotazy,"
        "sikca sorulan sorular,часто задаваемые вопросы",
        ("job", 1.6): "job offer,we are hiring,vacancy,stellenangebot,stellenausschreibung,m w d,"
        "offre d emploi,oferta de empleo,offerta di lavoro,vacature,oferta pracy",
    }
)

QUESTION_MARKS = ("?", "？", "؟", "\u037e")

# Labels of add-to-cart buttons.
ADD_TO_CART = (
    "add to cart", "add to bag", "add to basket", "add to trolley", "buy now", "in den warenkorb",
    "in den einkaufswagen", "jetzt kaufen", "ajouter au panier", "acheter", "anadir al carrito",
    "anadir a la cesta", "agregar al carrito", "comprar", "aggiungi al carrello", "acquista",
    "adicionar ao carrinho", "in winkelwagen", "in winkelmand", "dodaj do koszyka", "do koszyka",
    "lagg i varukorg", "kop nu", "legg i handlekurv", "laeg i kurv", "lisaa ostoskoriin",
    "do kosiku", "pridat do kosiku", "sepete ekle", "в корзину", "купить", "до кошика",
    "προσθηκη στο καλαθι", "カートに入れる", "장바구니", "加入购物车", "加入購物車",
)  # fmt: skip
