"""Organisations that a page states in structured data or, on pages of its own, in its imprint."""

from __future__ import annotations

import re
from functools import lru_cache

from messor.content import phones
from messor.content.evidence import NORMALISERS, EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import SHOWN, distinct, make, said
from messor.content.page_type import page_type
from messor.content.places import country_of, read_country
from messor.content.records import Record
from messor.content.view import PageView

KIND = "organisation"
MAX_ORGANISATIONS = 50
_MAX_LINE = 300
_TYPES = """
    Organization Corporation LocalBusiness NGO GovernmentOrganization EducationalOrganization
    MedicalOrganization NewsMediaOrganization PerformingGroup SportsOrganization OnlineBusiness
    OnlineStore Store Restaurant CafeOrCoffeeShop Bakery BarOrPub FastFoodRestaurant
    FoodEstablishment Hotel LodgingBusiness BedAndBreakfast Hostel Resort MedicalClinic
    MedicalBusiness Dentist Hospital Physician Pharmacy Optician VeterinaryCare BeautySalon
    HairSalon DaySpa HealthAndBeautyBusiness HealthClub NailSalon TattooParlor ProfessionalService
    LegalService Attorney Notary AccountingService FinancialService InsuranceAgency BankOrCreditUnion
    RealEstateAgent TravelAgency HomeAndConstructionBusiness Electrician Plumber RoofingContractor
    HousePainter Locksmith MovingCompany GeneralContractor HVACBusiness AutomotiveBusiness AutoRepair
    AutoDealer GasStation ChildCare School CollegeOrUniversity Preschool HighSchool ElementarySchool
    Library Museum SportsActivityLocation ExerciseGym EntertainmentBusiness ShoppingCenter
    ClothingStore ElectronicsStore FurnitureStore GroceryStore BookStore HardwareStore JewelryStore
    PetStore Florist GardenStore ToyStore SportingGoodsStore ShoeStore BikeStore ConvenienceStore
    EmergencyService Church PlaceOfWorship Consortium FundingAgency ResearchOrganization
    WorkersUnion Airline Project
    """
TYPES = frozenset(_TYPES.split())
_VAT = re.compile(
    r"(?<!\w)(?:ATU\d{8}|DE ?\d{9}|BE ?[01]\d{9}|NL ?\d{9}B\d{2}|FR ?[A-Z\d]{2} ?\d{9}|IT ?\d{11}|"
    r"ES ?[A-Z]\d{7}[A-Z\d]|PL ?\d{10}|SE ?\d{12}|DK ?\d{8}|FI ?\d{8}|CZ ?\d{8,10}|PT ?\d{9}|"
    r"GB ?\d{9}|IE ?\d{7}[A-Z]{1,2}|CHE-?\d{3}\.\d{3}\.\d{3}|SK ?\d{10}|HU ?\d{8}|LU ?\d{8})(?!\w)"
)
_DIGITS = re.compile(r"\d{3}")  # of any such number
_VAT_LABEL = re.compile(
    r"ust|umsatzsteuer|\bvat\b|\btva\b|p\.?\s?iva|partita iva|\bnif\b|\bcif\b|btw|\bnip\b|moms|uid|alv|dic|d\.p\.h",
    re.IGNORECASE,
)
_FORM = (
    r"GmbH & Co\. KG|GmbH|gGmbH|AG|UG(?: \(haftungsbeschränkt\))?|KG|OHG|e\.\s?V\.|e\.\s?K\.|SE|mbH|Ltd\.?|Limited|LLC|Inc\.?|"
    r"Corp\.?|PLC|plc|S\.?A\.?S\.?|SARL|S\.?à\.?r\.?l\.?|S\.?A\.?|S\.?r\.?l\.?|S\.?p\.?A\.?|S\.?L\.?U?\.?|B\.?V\.?|N\.?V\.?|"
    r"sp\. z o\.\s?o\.|s\.r\.o\.|a\.s\.|AB|A/S|ApS|AS|Oy|Oyj|Lda\.?|Kft\.?|d\.o\.o\."
)
# Up to six words that begin with a capital or number, then a legal form.
_LEGAL = re.compile(
    rf"(?<!\w)(?:[A-ZÄÖÜÉÈÅØÆŁŠČŽ0-9][\w&.'\u2019+-]{{0,30}}(?:\s(?:und|and|et|de|für|of|the|y|e|&|des|der))?\s){{1,6}}(?:{_FORM})(?!\w)"
)


_YEAR = re.compile(r"^(?:(?:19|20)\d\d|Copyright|by|[-\u2013,.©\s])+\s")
# Pages on which a site speaks of itself.
_OWN = frozenset(("legal", "contact", "about", "home"))


def find(page: PageView) -> list[Record]:
    """The organisations of a page."""
    stated = [_stated(page, item) for item in page.items_of(TYPES)[:MAX_ORGANISATIONS]]
    found = [record for record in stated if record is not None]
    if not found:
        printed = _printed(page)
        found = [printed] if printed is not None else []
    return _merged(distinct(found))


def _merged(records: list[Record]) -> list[Record]:
    """One record for each name: the one that says most."""
    best: dict[str, Record] = {}
    for record in records:
        name = str(record.value("name")).casefold()
        if name not in best or len(record.fields) > len(best[name].fields):
            best[name] = record
    return list(best.values())


def address_fields(item: PageItem | None) -> dict[str, EvidencedField | None]:
    """What a postal address states."""
    country = said(item, "addressCountry", normaliser="country")
    nested = item.item("addressCountry") if item else None
    return {
        "street": said(item, "streetAddress"),
        "postal_code": said(item, "postalCode"),
        "locality": said(item, "addressLocality"),
        "region": said(item, "addressRegion"),
        "country": country or said(nested, "name", normaliser="country"),
    }


def _stated(page: PageView, item: PageItem) -> Record | None:
    national = phones.normaliser(country_of(page))
    phone = said(item, "telephone", normaliser="phone")
    logo = item.item("logo")
    return make(
        KIND,
        {
            "name": said(item, "name"),
            "legal_name": said(item, "legalName"),
            "description": said(item, "description", normaliser="long_text"),
            "url": said(item, "url", normaliser="link"),
            "email": said(item, "email", normaliser="email"),
            "phone": phone or said(item, "telephone", normaliser=national, confidence=SHOWN),
            "vat_id": said(item, "vatID"),
            "logo": said(item, "logo", normaliser="link") or said(logo, "url", normaliser="link"),
            "founded": said(item, "foundingDate"),
            "price_range": said(item, "priceRange"),
            **(address_fields(item.item("address"))),
        },
        needs=("name",),
    )


def _printed(page: PageView) -> Record | None:
    """What an imprint or a footer says: a name with its legal form, and a VAT number."""
    name: EvidencedField | None = None
    vat: EvidencedField | None = None
    own = page_type(page).name in _OWN
    for line in page.lines:
        if len(line.text) > _MAX_LINE or not (own or line.region == "footer" or "©" in line.text):
            continue
        number, named = _names(line.text)
        if vat is None and number:
            vat = page.said(line, number).field("text", SHOWN)
        if name is None and named:
            name = page.said(line, named).field("text", SHOWN)
        if vat is not None and name is not None:
            break
    return make(KIND, {"name": name, "vat_id": vat}, needs=("name",))


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[str, str]:
    """The VAT number and the name of a company in a line; remembered, for footers come again."""
    number = _VAT.search(text) if _DIGITS.search(text) and _VAT_LABEL.search(text) else None
    legal = _LEGAL.search(text)
    name = _YEAR.sub("", legal[0]).strip() if legal else ""
    return number[0] if number else "", name


NORMALISERS.add("country", read_country)
