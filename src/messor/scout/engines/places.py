"""Country names that some engines require, by the code that profiles use."""

from __future__ import annotations

COUNTRIES = {
    "au": "australia",
    "bg": "bulgaria",
    "br": "brazil",
    "ca": "canada",
    "ch": "switzerland",
    "de": "germany",
    "es": "spain",
    "fr": "france",
    "gb": "united kingdom",
    "ie": "ireland",
    "in": "india",
    "it": "italy",
    "jp": "japan",
    "mx": "mexico",
    "my": "malaysia",
    "nl": "netherlands",
    "nz": "new zealand",
    "pl": "poland",
    "se": "sweden",
    "sg": "singapore",
    "us": "united states",
    "za": "south africa",
}
