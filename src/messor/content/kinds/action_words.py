"""Call-to-action phrases of buttons and links, by action and language: data.

All are folded: lower case, no accents.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended
from __future__ import annotations

_PHRASES: dict[str, str] = {
    "book": "book now,book online,book an appointment,book appointment,book a consultation,book a demo,"
    "book a call,book a table,book your stay,book your appointment,schedule an appointment,"
    "schedule a consultation,schedule a call,schedule a demo,make an appointment,make a reservation,"
    "reserve a table,reserve now,reserve,request an appointment,jetzt buchen,online buchen,buchen,"
    "termin vereinbaren,termin buchen,termin online buchen,jetzt termin vereinbaren,tisch reservieren,"
    "reservieren,jetzt reservieren,prendre rendez-vous,prendre rdv,reserver,reserver une table,"
    "reservez,reservez maintenant,reservar,reservar ahora,reserva ahora,pedir cita,reservar mesa,"
    "reservar cita,prenota,prenota ora,prenota online,prenota un appuntamento,prenota un tavolo,"
    "agendar,agende sua consulta,agendar consulta,marcar consulta,reserve agora,boek nu,"
    "maak een afspraak,afspraak maken,reserveer,reserveren,zarezerwuj,umow wizyte,rezerwuj,"
    "umow sie na wizyte,boka,boka nu,boka tid,boka bord,bestill time,bestill na,book tid,bestil tid,"
    "varaa aika,varaa,varaa nyt,objednat se,rezervovat,rezervasyon yap,randevu al,записаться,"
    "записаться на прием,забронировать,записатися",
    "buy": "buy now,buy,shop now,order now,order online,add to cart,add to basket,add to bag,"
    "get tickets,buy tickets,jetzt kaufen,kaufen,jetzt bestellen,bestellen,online bestellen,"
    "in den warenkorb,jetzt shoppen,tickets kaufen,zum shop,acheter,acheter maintenant,commander,"
    "ajouter au panier,commander en ligne,comprar,comprar ahora,anadir al carrito,pedir ahora,"
    "acquista,acquista ora,ordina ora,aggiungi al carrello,compre agora,comprar agora,koop nu,"
    "bestel nu,bestel,kup teraz,zamow,zamow teraz,dodaj do koszyka,kop nu,kop,bestall,kjop,kjop na,"
    "kob nu,kob,osta nyt,tilaa,koupit,objednat,satin al,sepete ekle,купить,заказать,в корзину,купити",
    "contact": "contact us,contact,get in touch,contact sales,talk to us,talk to sales,speak to an expert,"
    "write to us,kontakt aufnehmen,kontaktieren sie uns,jetzt kontaktieren,nehmen sie kontakt auf,"
    "jetzt anfragen,kontaktformular,contactez-nous,nous contacter,contactar,contactanos,contactenos,"
    "contattaci,fale conosco,entre em contato,contacte-nos,neem contact op,skontaktuj sie,"
    "skontaktuj sie z nami,kontakta oss,kontakt oss,kontakt os,ota yhteytta,kontaktujte nas,"
    "bize ulasin,связаться с нами,связаться,зв'язатися",
    "call": "call now,call us,call us now,call us today,jetzt anrufen,anrufen,rufen sie uns an,"
    "appelez-nous,appeler,llamanos,llamar,llame ahora,chiamaci,chiama ora,ligue agora,bel ons,bel nu,"
    "zadzwon,ring oss,ring os,soita,zavolejte,hemen ara,позвонить,заказать звонок",
    "quote": "get a quote,request a quote,get a free quote,free quote,request a free quote,get an estimate,"
    "request pricing,get pricing,angebot anfordern,angebot einholen,kostenloses angebot,"
    "unverbindlich anfragen,angebot anfragen,demander un devis,devis gratuit,obtenir un devis,"
    "pedir presupuesto,solicitar presupuesto,presupuesto gratis,richiedi un preventivo,"
    "richiedi preventivo,preventivo gratuito,pedir orcamento,solicitar orcamento,offerte aanvragen,"
    "vraag een offerte aan,zapytaj o wycene,popros o wycene,begar offert,fa tilbud,pyyda tarjous,"
    "nezavazna poptavka,teklif al,получить предложение,рассчитать стоимость",
    "sign_up": "sign up,sign up now,sign up free,sign up for free,register,register now,join now,join us,"
    "join,create account,create an account,get started,get started now,get started for free,"
    "get started today,start now,jetzt registrieren,registrieren,jetzt anmelden,kostenlos registrieren,"
    "konto erstellen,mitglied werden,jetzt starten,jetzt loslegen,los geht's,s'inscrire,inscrivez-vous,"
    "creer un compte,commencer,registrarse,registrate,crear cuenta,empezar,empieza ahora,iscriviti,"
    "registrati,crea account,inizia ora,inizia,cadastre-se,criar conta,inscreva-se,comece agora,"
    "aanmelden,registreren,begin nu,aan de slag,zarejestruj sie,zaloz konto,zacznij teraz,"
    "registrera dig,skapa konto,kom igang,registrer deg,opret konto,bliv medlem,bli medlem,"
    "rekisteroidy,luo tili,registrovat se,kayit ol,uye ol,зарегистрироваться,регистрация,начать,"
    "зареєструватися",
    "trial": "start free trial,start your free trial,free trial,try for free,try it free,try now,try free,"
    "request a demo,get a demo,watch demo,book demo,kostenlos testen,jetzt testen,demo anfordern,"
    "jetzt kostenlos testen,essai gratuit,essayer gratuitement,essayer,demander une demo,prueba gratis,"
    "probar gratis,solicitar demo,prova gratis,prova gratuita,provalo gratis,richiedi una demo,"
    "teste gratis,experimente gratis,probeer gratis,gratis proberen,demo aanvragen,wyprobuj,"
    "wyprobuj za darmo,prova gratis,testa gratis,prov gratis,kokeile ilmaiseksi,vyzkouset zdarma,"
    "ucretsiz dene,попробовать бесплатно,попробовать",
    "download": "download,download now,free download,download the app,download app,get the app,"
    "download brochure,download pdf,herunterladen,jetzt herunterladen,app herunterladen,"
    "broschure herunterladen,telecharger,telecharger l'application,descargar,descarga gratis,"
    "descargar ahora,scarica,scarica ora,scarica l'app,baixar,baixe agora,baixe o app,downloaden,"
    "pobierz,pobierz teraz,ladda ner,last ned,hent,lataa,stahnout,indir,скачать,завантажити",
    "subscribe": "subscribe,subscribe now,subscribe to our newsletter,sign up for our newsletter,"
    "join our newsletter,newsletter abonnieren,abonnieren,jetzt abonnieren,zum newsletter anmelden,"
    "s'abonner,abonnez-vous,je m'abonne,suscribirse,suscribete,suscribirme,abbonati,"
    "iscriviti alla newsletter,assinar,assine,assine agora,abonneren,abonneer,inschrijven,"
    "zapisz sie,zapisz sie do newslettera,subskrybuj,prenumerera,abonner,tilaa uutiskirje,"
    "odebirat novinky,abone ol,подписаться,підписатися",
    "donate": "donate,donate now,give now,make a donation,support us,jetzt spenden,spenden,"
    "faire un don,je donne,donner,donar,dona ahora,haz una donacion,dona ora,dona,doe agora,doar,"
    "doneer,doneer nu,wesprzyj nas,przekaz darowizne,skank en gava,ge en gava,gi en gave,stot os,"
    "lahjoita,darovat,bagis yap,пожертвовать,поддержать",
    "apply": "apply now,apply,apply online,apply here,apply today,start application,submit application,"
    "jetzt bewerben,online bewerben,hier bewerben,bewerben,antrag stellen,jetzt beantragen,postuler,"
    "postulez,deposer une demande,candidater,solicitar,solicitar ahora,inscribirse,aplicar ahora,"
    "candidati,candidati ora,invia candidatura,presenta domanda,candidatar-se,candidate-se,"
    "solliciteer,solliciteer nu,solliciteren,aanvragen,aplikuj,aplikuj teraz,zloz wniosek,ansok,"
    "ansok nu,sok na,ansog,hae nyt,hae paikkaa,podat zadost,basvur,hemen basvur,подать заявку,"
    "откликнуться,подати заявку",
    "learn_more": "learn more,find out more,read more about us,discover more,see how it works,"
    "how it works,mehr erfahren,jetzt entdecken,jetzt informieren,en savoir plus,decouvrir,"
    "decouvrez,mas informacion,saber mas,conoce mas,scopri di piu,scopri,maggiori informazioni,"
    "saiba mais,meer informatie,meer weten,lees meer,dowiedz sie wiecej,las mer,les mer,læs mere,"
    "lue lisaa,zjistit vice,daha fazla bilgi,узнать больше,подробнее,дізнатися більше",
}
ACTIONS = {
    phrase.strip(): action for action, phrases in _PHRASES.items() for phrase in phrases.split(",")
}
