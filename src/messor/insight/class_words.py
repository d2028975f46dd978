"""Words that sites of each class use about themselves, in names and in structured data.

General words of the web in the languages of the shipped verticals, folded: no accents, lower case.
`insight.class_features` weighs them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Phrases of a homepage about its own site.
SAYS: Mapping[str, str] = {
    "directory": r"director(?:y|ies)|find (?:a|an|the best|local|your nearest)\b|list your \w+|claim your \w+"
    r"|add (?:your|a)(?: own)? (?:listing|business|company|entry)|(?:browse|compare) (?:all |local |by )?\w+|\blistings?\b|\bentr(?:y|ies)\b"
    r"|reviews? (?:of|from|by)|\bratings?\b|\breviewers?\b|\btop rated\b|near you\b|nearest"
    r"|search by (?:\w+,? )*(?:postcode|zip|name|town|category|speciality|location)|local guide|guide to\b|yellow pages"
    r"|verzeichnis|branchenbuch|annuaire|directorio|top \d+ ",
    "marketplace": r"marketplace|\bsell (?:on|with|your)\b|become a seller|start selling|\bsellers?\b|\bseller account|buy and sell"
    r"|buyers and sellers|buyer protection|\bauctions?\b|\bbid(?:s|ding)?\b|new and used|second.hand|commission on"
    r"|marktplatz|place de marche|vender en|vendeurs|verkaufer",
    "news": r"\bnews\b|headlines?|newspaper|news ?room|journalis[tm]|\breporters?\b|\breporting\b|\beditors?\b|editorial|top stories|\bstories\b"
    r"|\bedition\b|\bsubscri(?:be|ption)|breaking|\bmagazine\b|\bcolumns?\b|\bweather\b|\bopinion\b|\bwe test\b"
    r"|nachrichten|actualites|noticias|zeitung|\bgazette\b|\bherald\b|\btribune\b",
    "social": r"join the conversation|\bfriends\b|photos? (?:and|or) videos?|share (?:photos|videos|what)|\bfollowers?\b|\bfollow (?:people|your)|\blikes?,? comment"
    r"|\bcomments?\b|\blog in\b|\bsign up\b|create (?:an account|a profile)|\bhashtags?\b|social network|\bprofile\b|\bposted\b|private messages?",
    "forum": r"\bforums?\b|discussion|\bboards?\b|\bthreads?\b|\btopics?\b|\brepl(?:y|ies)\b|message board|\bmoderat(?:or|ed)s?|register to post|\bq&a\b|\bmembers\b|off.topic",
    "government": r"official (?:web)?site|government|\bministr(?:y|er)|\bcouncil(?:lors?)?\b|\bparliament|\bmunicipal|\bpublic (?:services?|register|body|servants?)"
    r"|\bauthority\b|\bby law\b|\bstatut(?:e|es|ory)|\bregulations?\b|\blicen[cs]es?\b|\bpermits?\b|\bresidents\b|\bcitizens\b|department of|\bagency\b"
    r"|bundesministerium|ministere|ministerio|behorde|mairie|ayuntamiento",
    "education": r"\buniversit(?:y|ies)|\bcollege\b|\bschool of\b|facult(?:y|ies)|undergraduate|postgraduate|\bdegrees?\b|\bdiplomas?\b|\bstudents\b|\bcampus\b|\bprofessors?\b"
    r"|\blecture(?:r|rs|s)\b|\btuition\b|\benrol|\bcurriculum\b|\bsemesters?\b|\bscholars(?:hips?)?\b|\bfellows(?:hips?)?\b|\balumni\b|\bacademy\b"
    r"|universitat|universite|universidad|hochschule|studierende",
    "nonprofit": r"non-?profit|not for profit|charit(?:y|ies|able)|\bfoundation\b|\btrustees?\b|\bdonat(?:e|ions?)\b|\bdonors?\b|our mission is|\bvolunteer|\bgrants?\b|\bgrantees?\b"
    r"|\bwe (?:fund|support|give)\b|\bbequest|\bendowment|\bmembership\b|\bassociation\b|501\(c\)|free of charge|\bhelpline\b"
    r"|gemeinnutzig|stiftung|foerder|fordert|gefordert|\bverein|fondation|\bbourses?\b|soutient|benevol|fundacion|sin animo de lucro",
    "aggregator": r"compare prices|price comparison|\bwe compare|\bcompare\b|side by side|\bdeals\b|search \d[\d,.]* (?:jobs|vacancies|offers|sites)|all (?:job )?(?:offers|sites|boards)"
    r"|one search|price alerts?|\bcheapest\b|lowest price|\bcoupons?\b|discount codes?|preisvergleich|comparateur|offers? from",
    "parked": r"domain(?: name)? (?:is|may be) (?:for sale|parked|available)|buy this domain|this domain|parked|\bregistrar\b|related (?:links|searches)|make an offer"
    r"|domain steht zum verkauf|coming soon\W*$",
    "business": r"\bbook (?:an appointment|now|online|a (?:consultation|table)|ahead)|\bappointments?\b|our (?:clinic|practice|products|doctors|treatments|workshop|menu|prices|customers|clients|kitchen|showroom|shop|team|fees|sales)\b"
    r"|opening hours|(?:call|ring) us|\bestimates?\b|\bquot(?:e|ation)s?\b|\bdelivery\b|\bshipping\b|\brefund|\bbasket\b|add to cart|\borders?\b|\bcustomers?\b|\bclients\b|\bpatients\b|\bfees?\b"
    r"|family (?:firm|business)|\bguarantee|\binsured\b|we (?:sell|stock|repair|supply|manufacture|deliver)|\bmanufacturers?\b|\binvestors\b|\bcertified\b|\bmenu\b|\bborrow\b|\binstalments\b"
    r"|offnungszeiten|unsere praxis|familienbetrieb|\bkunden\b|\bangebot|bestellung|versand|garantie|nuestra clinica|notre cabinet|\bclientes\b|presupuesto|empresa|horario|\bdevis\b|livraison|commandes|boutique|entreprise",
    "reference": r"encyclop(?:a?e)dia|dictionary|free knowledge|glossary|definition|etymolog|pronunciation|\bcontributors?\b|\bcit(?:e|ations?)\b|\blexicon|\bwiki|free licen[cs]e",
}  # fmt: skip

# Names: a word of the name, or an end of the domain.
CALLED: Mapping[str, tuple[str, ...]] = {
    "directory": ("directory", "finder", "listings", "pages", "guide", "index", "yellow", "find", "local"),
    "marketplace": ("marketplace", "bazaar", "mart", "auctions", "classifieds"),
    "news": ("news", "times", "post", "herald", "gazette", "tribune", "courier", "chronicle", "observer", "echo", "daily", "weekly",
             "journal", "magazine", "star", "telegraph", "review", "zeitung"),
    "forum": ("forum", "forums", "boards", "talk", "discuss", "chatroom", "answers", "ask"),
    "reference": ("wiki", "pedia", "encyclopedia", "dictionary", "lexicon", "glossary"),
    "government": ("council", "ministry", "authority", "department", "agency", "government", "office of",
                   "statistics", "board", "municipality"),
    "education": ("university", "college", "school", "academy", "polytechnic", "institute", "hochschule"),
    "nonprofit": ("foundation", "trust", "charity", "fund", "stiftung", "fondation", "fundacion", "association", "federation", "guild", "society",
                  "food bank", "shelter", "endowment", "museum", "friends of", "chamber", "fonds", "advice centre"),
    "aggregator": ("compare", "comparison", "deals", "price", "jobs", "vacancies", "offers"),
}  # fmt: skip

# Types of schema.org that indicate a class, under the type that represents them.
DATA_KINDS: Mapping[str, tuple[str, ...]] = {
    "LocalBusiness": (
        "Store", "Corporation", "MedicalClinic", "MedicalBusiness", "Dentist", "Physician", "Pharmacy",
        "HealthAndBeautyBusiness", "Restaurant", "CafeOrCoffeeShop", "FoodEstablishment", "Bakery", "BarOrPub", "ProfessionalService",
        "HomeAndConstructionBusiness", "Plumber", "Electrician", "RoofingContractor", "GeneralContractor", "FinancialService", "LegalService",
        "AccountingService", "AutoRepair", "AutomotiveBusiness", "LodgingBusiness", "Hotel", "RealEstateAgent", "TravelAgency",
    ),
    "EducationalOrganization": ("CollegeOrUniversity", "School", "HighSchool", "ElementarySchool"),
    "GovernmentOrganization": ("GovernmentOffice", "GovernmentBuilding", "CityHall"),
    "NGO": ("FundingAgency", "FundingScheme"),
    "NewsMediaOrganization": ("Newspaper", "NewsArticle", "ReportageNewsArticle"),
}  # fmt: skip

WORDS = {name: re.compile(pattern) for name, pattern in SAYS.items()}
# What nearly every site says about itself, least of all directories.
OWN = re.compile(
    r"\b(?:contact us|about us|our (?:team|services|story)|impressum|uber uns|kontakt|nos services|nuestros servicios)\b"
)
