"""The console's pages as its menu shows them: each to those who may open it."""

from __future__ import annotations

from dataclasses import dataclass

from messor.access.principal import Principal
from messor.access.roles import Act


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the menu."""

    label: str
    path: str
    icon: str  # of Font Awesome, without its prefix
    act: Act
    on_phone: bool = True  # in the bar at the bottom
    also: tuple[str, ...] = ()  # other paths it stands for

    def is_here(self, path: str) -> bool:
        return any(
            path == own or (own != "/" and path.startswith(f"{own}/"))
            for own in (self.path, *self.also)
        )


MENU = (
    Entry("Overview", "/", "gauge-high", Act.READ),
    Entry("Review", "/review", "inbox", Act.DOMAINS_REVIEW),
    Entry("Domains", "/domains", "globe", Act.READ),
    Entry("Submit", "/submit", "circle-plus", Act.DOMAINS_SUBMIT),
    Entry("Search", "/search", "magnifying-glass", Act.READ, on_phone=False),
    Entry(
        "Records",
        "/records",
        "layer-group",
        Act.READ,
        on_phone=False,
        also=("/products", "/parsers"),
    ),
    Entry("Why?", "/why", "route", Act.READ, on_phone=False),
    Entry("Intelligence", "/orbit", "binoculars", Act.READ, on_phone=False),
    Entry(
        "Discovery",
        "/discovery",
        "compass",
        Act.READ,
        on_phone=False,
        also=("/verticals", "/keywords", "/serps", "/scores"),
    ),
    Entry("Candidates", "/candidates", "clipboard-check", Act.READ, on_phone=False),
    Entry(
        "Tasks and jobs",
        "/tasks",
        "list-check",
        Act.READ,
        on_phone=False,
        also=("/batches", "/jobs"),
    ),
    Entry("Schedule", "/schedule", "calendar-days", Act.READ, on_phone=False),
    Entry("Health", "/admin/orbits/health", "heart-pulse", Act.READ, on_phone=False),
    Entry("Traffic", "/traffic", "traffic-light", Act.READ, on_phone=False),
    Entry("Proxies", "/proxies", "network-wired", Act.PROXIES_MANAGE, on_phone=False),
    Entry("Webhooks", "/webhooks", "bell", Act.WEBHOOKS_MANAGE, on_phone=False),
    Entry("Members", "/members", "users", Act.MEMBERS_MANAGE, on_phone=False),
    Entry("Audit log", "/audit", "clock-rotate-left", Act.AUDIT_READ, on_phone=False),
    Entry("My account", "/account", "circle-user", Act.ACCOUNT_OWN, on_phone=False),
)


def menu_for(principal: Principal) -> list[Entry]:
    return [entry for entry in MENU if principal.may(entry.act)]
