"""What the console works with, brought by whoever starts it."""

from __future__ import annotations

from dataclasses import dataclass, field

from jinja2 import Environment

from messor.access.login import LoginService
from messor.console.errands import BackgroundTasks
from messor.console.live import LiveBoard
from messor.console.rates import ConsoleRates
from messor.fetch.proxies.seal import Seal
from messor.fetch.services.identity_provider import IdentityProvider
from messor.settings import Settings
from messor.store.database import Database


@dataclass(frozen=True, slots=True)
class ConsoleContext:
    """Database, door and templates, the same for every request."""

    settings: Settings
    database: Database
    door: LoginService
    board: LiveBoard
    templates: Environment
    rates: ConsoleRates
    public_submission: bool  # whether people without an account may ask for domains
    seal: Seal  # of secrets that are needed again; its key is made once
    identity_provider: IdentityProvider | None = None
    errands: BackgroundTasks = field(default_factory=BackgroundTasks)
