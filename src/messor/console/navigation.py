"""The console's menu, limited to what the member may open."""

from __future__ import annotations

from dataclasses import dataclass

from messor.access.principal import Principal
from messor.access.roles import Act


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One menu item."""

    label: str
    path: str
    icon: str  # Font Awesome name without prefix
    act: Act
    on_phone: bool = True  # in the bottom bar on small screens
    also: tuple[str, ...] = ()  # other paths that highlight this item

    def is_here(self, path: str) -> bool:
        return any(
            path == own or (own != "/" and path.startswith(f"{own}/"))
            for own in (self.path, *self.also)
        )


MENU = (
    MenuEntry("Overview", "/", "gauge-high", Act.READ),
    MenuEntry("Review", "/review", "inbox", Act.DOMAINS_REVIEW),
    MenuEntry("Domains", "/domains", "globe", Act.READ),
    MenuEntry("Submit", "/submit", "circle-plus", Act.DOMAINS_SUBMIT),
    MenuEntry("Search", "/search", "magnifying-glass", Act.READ, on_phone=False),
    MenuEntry(
        "Records",
        "/records",
        "layer-group",
        Act.READ,
        on_phone=False,
        also=("/products", "/parsers", "/corrections"),
    ),
    MenuEntry("Changes", "/changes", "rss", Act.READ, on_phone=False),
    MenuEntry("Analytics", "/analytics", "chart-line", Act.READ, on_phone=False),
    MenuEntry("Watches", "/watches", "eye", Act.READ, on_phone=False),
    MenuEntry("Why?", "/why", "route", Act.READ, on_phone=False),
    MenuEntry("Intelligence", "/orbit", "binoculars", Act.READ, on_phone=False),
    MenuEntry(
        "Discovery",
        "/discovery",
        "compass",
        Act.READ,
        on_phone=False,
        also=("/verticals", "/keywords", "/serps", "/scores"),
    ),
    MenuEntry("Candidates", "/candidates", "clipboard-check", Act.READ, on_phone=False),
    MenuEntry(
        "Tasks and jobs",
        "/tasks",
        "list-check",
        Act.READ,
        on_phone=False,
        also=("/batches", "/jobs"),
    ),
    MenuEntry("Exports", "/exports", "file-export", Act.DATA_EXPORT, on_phone=False),
    MenuEntry(
        "Rights",
        "/rights/held",
        "scale-balanced",
        Act.READ,
        on_phone=False,
        also=("/rights",),
    ),
    MenuEntry("Schedule", "/schedule", "calendar-days", Act.READ, on_phone=False),
    MenuEntry("Health", "/admin/orbits/health", "heart-pulse", Act.READ, on_phone=False),
    MenuEntry("Traffic", "/traffic", "traffic-light", Act.READ, on_phone=False),
    MenuEntry("Proxies", "/proxies", "network-wired", Act.PROXIES_MANAGE, on_phone=False),
    MenuEntry("Webhooks", "/webhooks", "bell", Act.WEBHOOKS_MANAGE, on_phone=False),
    MenuEntry("Members", "/members", "users", Act.MEMBERS_MANAGE, on_phone=False),
    MenuEntry("Audit log", "/audit", "clock-rotate-left", Act.AUDIT_READ, on_phone=False),
    MenuEntry("My account", "/account", "circle-user", Act.ACCOUNT_OWN, on_phone=False),
)


def menu_for(principal: Principal) -> list[MenuEntry]:
    return [entry for entry in MENU if principal.may(entry.act)]
