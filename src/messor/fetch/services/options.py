"""Settings of one external service: its URL, how to use it, what it may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import SecretStr
from yarl import URL

from messor.errors import UsageError

ContractChoice: TypeAlias = Literal["auto", "current", "spec"]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """One service. The key is a secret: it is sent to the service and shown nowhere else."""

    base_url: str
    api_key: SecretStr | None = field(default=None, repr=False)
    contract: ContractChoice = "auto"
    cost: Decimal = Decimal(0)  # per page, or per credit where the service counts credits
    monthly_budget: Decimal | None = None  # None: no limit
    timeout: float = 30.0  # seconds the service may spend on a page
    grace: float = 10.0  # additional seconds until we stop waiting for the service
    max_answer_bytes: int = 64_000_000
    max_page_bytes: int = 20_000_000
    user_agent: str | None = None  # User-Agent that the service sends to the site
    ca_file: Path | None = None  # extra certificate authorities, for a private endpoint

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        if self.api_key is not None:
            _check_key(self.api_key.get_secret_value())
        if self.cost < 0 or (self.monthly_budget is not None and self.monthly_budget < 0):
            raise UsageError("The cost and the monthly budget of a service cannot be negative.")
        if self.timeout <= 0 or self.grace < 0:
            raise UsageError("The timeout of a service must be greater than zero.")


def _check_address(base_url: str) -> None:
    try:
        url = URL(base_url)
        sound = url.scheme in ("http", "https") and bool(url.host) and bool(url.port)
    except ValueError:
        sound = False
    # The URL itself is not repeated here: it may contain a password.
    if not sound:
        raise UsageError("The address of a service must be an http or https URL.")
    if url.user is not None or url.password is not None:
        raise UsageError(
            "The address of a service must not contain a user name: set its API key instead."
        )
    if url.query_string or url.fragment:
        raise UsageError("The address of a service must not contain a query or a fragment.")


def _check_key(key: str) -> None:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError("The API key of a service must be printable ASCII without spaces.")
