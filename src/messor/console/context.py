"""Dependencies of the console, provided by whoever starts it."""

from __future__ import annotations

from dataclasses import dataclass, field

from jinja2 import Environment

from messor.access.login import LoginService
from messor.console.background import BackgroundTasks
from messor.console.live import LiveBoard
from messor.console.rates import ConsoleRates
from messor.fetch.proxies.seal import Seal
from messor.fetch.services.identity_provider import IdentityProvider
from messor.settings import Settings
from messor.store.database import Database


@dataclass(frozen=True, slots=True)
class ConsoleContext:
    """Shared by all requests."""

    settings: Settings
    database: Database
    logins: LoginService
    board: LiveBoard
    templates: Environment
    rates: ConsoleRates
    public_submission: bool  # whether anonymous people may request domains
    seal: Seal  # encrypts stored secrets
    identity_provider: IdentityProvider | None = None
    background: BackgroundTasks = field(default_factory=BackgroundTasks)
