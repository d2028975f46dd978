"""The console's menu in groups, limited to what the member may open."""

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
    on_phone: bool = False  # in the bottom bar on small screens
    also: tuple[str, ...] = ()  # other paths that highlight this item
    words: str = ""  # other names under which it is looked for

    def is_here(self, path: str) -> bool:
        return any(
            path == own or (own != "/" and path.startswith(f"{own}/"))
            for own in (self.path, *self.also)
        )

    def matches(self, typed: str) -> bool:
        """Whether every word typed begins a word of its label or of its other names."""
        own = f"{self.label} {self.words}".casefold().split()
        return all(any(each.startswith(word) for each in own) for word in typed.casefold().split())


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Menu items under one heading; the first group has none."""

    label: str
    entries: tuple[MenuEntry, ...]


MENU = (
    MenuGroup(
        "",
        (
            MenuEntry("Overview", "/", "gauge-high", Act.READ, on_phone=True, words="home live"),
            MenuEntry("Find", "/find", "magnifying-glass", Act.READ, also=("/search",)),
        ),
    ),
    MenuGroup(
        "Work",
        (
            MenuEntry(
                "Review", "/review", "inbox", Act.DOMAINS_REVIEW, on_phone=True,
                words="queue approve reject domains",
            ),
            MenuEntry("Candidates", "/candidates", "clipboard-check", Act.READ, words="programs"),
            MenuEntry("Changes", "/changes", "rss", Act.READ, words="feed"),
            MenuEntry("Watches", "/watches", "eye", Act.READ, words="alerts notify"),
            MenuEntry(
                "Exports", "/exports", "file-export", Act.DATA_EXPORT, words="csv parquet download"
            ),
        ),
    ),
    MenuGroup(
        "Desks",
        (
            MenuEntry(
                "Things", "/entities", "cubes", Act.READ,
                words="entities organisations programs services places merged",
            ),
            MenuEntry(
                "Records", "/records", "layer-group", Act.READ, also=("/corrections",),
                words="statements corrections",
            ),
            MenuEntry("Products", "/products", "tags", Act.READ, words="prices shops"),
            MenuEntry(
                "Discovery", "/discovery", "compass", Act.READ,
                also=("/verticals", "/keywords", "/serps", "/scores"),
                words="market keywords ranks visibility verticals scores funding grants",
            ),
            MenuEntry(
                "Profiles", "/orbit", "building", Act.READ, words="orbits tiles intelligence business"
            ),
            MenuEntry(
                "Analytics", "/analytics", "chart-line", Act.READ, words="questions charts sql"
            ),
        ),
    ),
    MenuGroup(
        "Crawl",
        (
            MenuEntry("Domains", "/domains", "globe", Act.READ, on_phone=True, words="sites"),
            MenuEntry(
                "Submit", "/submit", "circle-plus", Act.DOMAINS_SUBMIT, on_phone=True,
                words="new domain add",
            ),
            MenuEntry("Why?", "/why", "route", Act.READ, words="explain url decision robots"),
            MenuEntry(
                "Tasks and jobs", "/tasks", "list-check", Act.READ, also=("/batches", "/jobs"),
                words="pages batches dead letters",
            ),
            MenuEntry("Schedule", "/schedule", "calendar-days", Act.READ, words="orchestrators"),
            MenuEntry("Parsers", "/parsers", "code-branch", Act.READ, words="versions trials model"),
            MenuEntry(
                "Health", "/admin/orbits/health", "heart-pulse", Act.READ, words="checks contract"
            ),
            MenuEntry("Traffic", "/traffic", "traffic-light", Act.READ, words="halt stop"),
        ),
    ),
    MenuGroup(
        "Settings",
        (
            MenuEntry(
                "Rights", "/rights/held", "scale-balanced", Act.READ, also=("/rights",),
                words="uses permissions held",
            ),
            MenuEntry("Proxies", "/proxies", "network-wired", Act.PROXIES_MANAGE),
            MenuEntry("Webhooks", "/webhooks", "bell", Act.WEBHOOKS_MANAGE),
            MenuEntry("Members", "/members", "users", Act.MEMBERS_MANAGE, words="roles people invite"),
            MenuEntry(
                "Persons", "/persons", "user-shield", Act.DATA_ERASE,
                words="privacy access request erase gdpr",
            ),
            MenuEntry(
                "Audit log", "/audit", "clock-rotate-left", Act.AUDIT_READ, words="events history"
            ),
            MenuEntry(
                "API reference", "/api-reference", "code", Act.READ, words="openapi developers try"
            ),
            MenuEntry(
                "My account", "/account", "circle-user", Act.ACCOUNT_OWN,
                words="password keys sessions",
            ),
        ),
    ),
)  # fmt: skip


def menu_for(principal: Principal) -> list[MenuGroup]:
    """The groups with what this member may open; groups without anything are left out."""
    allowed = [
        MenuGroup(group.label, tuple(each for each in group.entries if principal.may(each.act)))
        for group in MENU
    ]
    return [group for group in allowed if group.entries]
