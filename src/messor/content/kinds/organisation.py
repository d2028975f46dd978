"""Organisations, from structured data, directories, or the imprint on a site's own pages."""

from __future__ import annotations

import re

from messor.content import phones
from messor.content.evidence import NORMALISERS, EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import VISIBLE, distinct, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.listed_organisations import read_listed
from messor.content.kinds.organisation_names import own_name
from messor.content.page_type import page_type
from messor.content.places import country_of, read_country
from messor.content.records import Record
from messor.content.schemas.base import AddressFields, Email, Link, Phone, Stated, Text
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
_DIGITS = re.compile(r"\d{3}")  # of any VAT number
_VAT_LABEL = re.compile(
    r"ust|umsatzsteuer|\bvat\b|\btva\b|p\.?\s?iva|partita iva|\bnif\b|\bcif\b|btw|\bnip\b|moms|uid|alv|dic|d\.p\.h",
    re.IGNORECASE,
)
_FORM = (
    r"GmbH & Co\. KG|GmbH|gGmbH|AG|UG(?: \(haftungsbeschränkt\))?|KG|OHG|e\.\s?V\.|e\.\s?K\.|SE|mbH|Ltd\.?|Limited|LLC|Inc\.?|"
    r"Corp\.?|PLC|plc|S\.?A\.?S\.?|SARL|S\.?à\.?r\.?l\.?|S\.?A\.?|S\.?r\.?l\.?|S\.?p\.?A\.?|S\.?L\.?U?\.?|B\.?V\.?|N\.?V\.?|"
    r"sp\. z o\.\s?o\.|s\.r\.o\.|a\.s\.|AB|A/S|ApS|AS|Oy|Oyj|Lda\.?|Kft\.?|d\.o\.o\."
)
# Up to six words that start with a capital or digit, then a legal form.
_LEGAL = re.compile(
    rf"(?<!\w)(?:[A-ZÄÖÜÉÈÅØÆŁŠČŽ0-9][\w&.'\u2019+-]{{0,30}}(?:\s(?:und|and|et|de|für|of|the|y|e|&|des|der))?\s){{1,6}}(?:{_FORM})(?!\w)"
)


_YEAR = re.compile(r"^(?:(?:19|20)\d\d|Copyright|by|[-\u2013,.©\s])+\s")
# Page types on which a site describes itself.
_OWN = frozenset(("legal", "contact", "about", "home"))


class OrganisationFields(AddressFields):
    name: Stated[Text]
    legal_name: Stated[Text] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None
    email: Stated[Email] | None = None
    phone: Stated[Phone] | None = None
    vat_id: Stated[Text] | None = None
    logo: Stated[Link] | None = None
    founded: Stated[Text] | None = None
    price_range: Stated[Text] | None = None


def find(page: PageView) -> list[Record]:
    """Return the organisations of a page."""
    stated = [_stated(page, item) for item in page.items_of(TYPES)[:MAX_ORGANISATIONS]]
    found = [record for record in stated if record is not None]
    if not found:
        listed = [make(KIND, fields, needs=("name",)) for fields in read_listed(page)]
        found = [record for record in (*listed, _printed(page)) if record is not None]
    return _merged(distinct(found))


def _merged(records: list[Record]) -> list[Record]:
    """Return one record per name: the one with the most fields."""
    best: dict[str, Record] = {}
    for record in records:
        name = str(record.value("name")).casefold()
        if name not in best or len(record.fields) > len(best[name].fields):
            best[name] = record
    return list(best.values())


def address_fields(item: PageItem | None) -> dict[str, EvidencedField | None]:
    """Return the fields of a postal address."""
    country = property_field(item, "addressCountry", normaliser="country")
    nested = item.item("addressCountry") if item else None
    return {
        "street": property_field(item, "streetAddress"),
        "postal_code": property_field(item, "postalCode"),
        "locality": property_field(item, "addressLocality"),
        "region": property_field(item, "addressRegion"),
        "country": country or property_field(nested, "name", normaliser="country"),
    }


def _stated(page: PageView, item: PageItem) -> Record | None:
    national = phones.normaliser(country_of(page))
    phone = property_field(item, "telephone", normaliser="phone")
    logo = item.item("logo")
    return make(
        KIND,
        {
            "name": property_field(item, "name"),
            "legal_name": property_field(item, "legalName"),
            "description": property_field(item, "description", normaliser="long_text"),
            "url": property_field(item, "url", normaliser="link"),
            "email": property_field(item, "email", normaliser="email"),
            "phone": phone
            or property_field(item, "telephone", normaliser=national, confidence=VISIBLE),
            "vat_id": property_field(item, "vatID"),
            "logo": property_field(item, "logo", normaliser="link")
            or property_field(logo, "url", normaliser="link"),
            "founded": property_field(item, "foundingDate"),
            "price_range": property_field(item, "priceRange"),
            **(address_fields(item.item("address"))),
        },
        needs=("name",),
    )


def _printed(page: PageView) -> Record | None:
    """Read an imprint or footer: a name with its legal form, and a VAT number."""
    name: EvidencedField | None = None
    vat: EvidencedField | None = None
    own = page_type(page).name in _OWN
    names = page.memory.memo(_names)
    for line in page.lines:
        if len(line.text) > _MAX_LINE or not (own or line.region == "footer" or "©" in line.text):
            continue
        number, named = names[line.text]
        if vat is None and number:
            vat = page.passage(line, number).field("text", VISIBLE)
        if name is None and named:
            name = page.passage(line, named).field("text", VISIBLE)
        if vat is not None and name is not None:
            break
    return make(KIND, {"name": own_name(page) or name, "vat_id": vat}, needs=("name",))


def _names(text: str) -> tuple[str, str]:
    """Return the VAT number and company name in a line."""
    number = _VAT.search(text) if _DIGITS.search(text) and _VAT_LABEL.search(text) else None
    legal = _LEGAL.search(text)
    name = _YEAR.sub("", legal[0]).strip() if legal else ""
    return number[0] if number else "", name


NORMALISERS.add("country", read_country)


DECLARATION = RecordKind(
    KIND,
    OrganisationFields,
    identity=(("name",),),
    subject="name",
    find=find,
    prompt="organisation",
)
