"""Every setting in one place; the only reader of the environment.

Sources, strongest first: arguments, `MESSOR_*` variables, `.env`, the TOML file named by
`MESSOR_CONFIG` (default `messor.toml`), the defaults below.
"""

from __future__ import annotations

import os
from decimal import Decimal
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

LOG_LEVELS = ("debug", "info", "warning", "error")


class AllowedNetworks(BaseModel):
    """What the address guard lets through besides public addresses on ports 80 and 443.

    Empty by default. `names` are static names: `"shop.test:80" = "127.0.0.2:18080"` sends
    requests for that authority there without asking DNS.
    """

    addresses: list[str] = Field(default_factory=list)
    ports: list[int] = Field(default_factory=list)
    names: dict[str, str] = Field(default_factory=dict)

    @field_validator("addresses")
    @classmethod
    def are_networks(cls, value: list[str]) -> list[str]:
        for text in value:
            ip_network(text, strict=False)
        return value

    @field_validator("names")
    @classmethod
    def lead_somewhere(cls, value: dict[str, str]) -> dict[str, str]:
        for target in value.values():
            address, _, port = target.rpartition(":")
            ip_address(address.strip("[]"))
            int(port)
        return value


class EngineOptions(BaseModel):
    """One search engine; what is left out is the engine's usual."""

    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    key: SecretStr | None = None
    cost: Decimal | None = Field(default=None, ge=0)  # of one search
    monthly_budget: Decimal | None = Field(default=None, ge=0)
    timeout: float = Field(default=30.0, gt=0, le=120)  # well within the hold on a search


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="MESSOR_", env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    data_dir: Path = Field(
        default=Path(".messor"), description="Folder of the embedded database and the archive"
    )
    database_url: str | None = Field(
        default=None, description="A given PostgreSQL (14 or newer); empty runs an embedded one"
    )
    postgres_bin: Path | None = Field(
        default=None, description="Folder of PostgreSQL's programs for the embedded server"
    )
    postgres_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on 127.0.0.1 that the embedded server listens on, too; 0: its socket alone",
    )

    contact: str = Field(
        default="https://example.invalid/set-MESSOR_CONTACT",
        pattern=r"^[!-~]+$",
        description="Where a site's owner reaches you; part of the user agent",
    )
    agent_token: str = Field(
        default="MessorBot", pattern="^[A-Za-z_-]+$", description="The robots.txt token"
    )
    allowed_networks: AllowedNetworks = Field(
        default_factory=AllowedNetworks, description="Addresses and ports opened on purpose"
    )
    shared_address_ranges: list[str] = Field(
        default_factory=list, description="CDN ranges exempt from the per-address cap"
    )

    default_delay: float = Field(
        default=1.0, ge=0, description="Seconds between requests to one host"
    )
    delay_jitter: float = Field(
        default=0.0, ge=0, le=1, description="Share of the delay that is added at random"
    )
    address_slots: int = Field(
        default=4, ge=1, description="Hosts of one address visited at a time"
    )
    worker_lease: float = Field(default=30.0, ge=1, description="Seconds a worker's lease lasts")
    visit_seconds: float = Field(default=60.0, gt=0, description="Longest visit")
    visit_pages: int = Field(default=50, ge=1, description="Most pages in a visit")
    flush_seconds: float = Field(default=0.5, gt=0, description="Longest wait before a flush")
    flush_pages: int = Field(default=200, ge=1, description="Most pages before a flush")
    concurrency: int = Field(default=512, ge=1, description="Most visits a worker holds at a time")

    job_concurrency: int = Field(default=16, ge=1, description="Most jobs a worker does at a time")
    min_free_disk: str = Field(
        default="5%",
        pattern=r"^\s*\d+(\.\d+)?\s*(%|[KMGTkmgt]?[Bb])?\s*$",
        description="Free disk space below which fetching and extracting pause: a share or a size",
    )
    worker_memory_mb: int = Field(
        default=1024,
        ge=64,
        description="Memory above which a worker is replaced; twice that kills it",
    )
    broker_url: SecretStr | None = Field(
        default=None,
        description="A RabbitMQ (amqp:// or amqps://) that tells workers of jobs; empty does without",
    )
    broker_queue_type: Literal["classic", "quorum"] = Field(
        default="classic", description="Its kind of queues; quorum is for a cluster"
    )
    broker_queue_length: int = Field(
        default=100_000, ge=1, description="Most hints in one of its queues; others wait"
    )

    connect_timeout: float = Field(default=10.0, gt=0, description="Seconds to connect")
    total_timeout: float = Field(default=30.0, gt=0, description="Seconds for one whole request")
    max_body_bytes: int = Field(default=10_000_000, ge=1, description="Most bytes on the wire")
    max_decoded_bytes: int = Field(
        default=20_000_000, ge=1, description="Most bytes after decoding"
    )
    max_redirects: int = Field(default=10, ge=0, description="Most redirects of all kinds")

    listen_host: str = Field(
        default="127.0.0.1", description="Address that `messor up` serves the console and API on"
    )
    listen_port: int = Field(
        default=8321, ge=0, le=65535, description="Its port; 0 picks a free one"
    )
    public_url: str | None = Field(
        default=None, description="Where people reach the console, behind a proxy for example"
    )
    allowed_hosts: list[str] = Field(
        default_factory=list,
        description="More names the console and API answer to, such as *.example.org; * is all",
    )
    trusted_proxies: list[str] = Field(
        default_factory=list,
        description="Reverse proxies whose X-Forwarded-For and -Proto are believed",
    )
    two_factor: Literal["optional", "required"] = Field(
        default="optional",
        description="Whether members who log in by password need a second factor",
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="OpenID Connect provider that members may log in by: its issuer URL",
    )
    oidc_client_id: str | None = Field(default=None, description="Client id at that provider")
    oidc_client_secret: SecretStr | None = Field(
        default=None, description="Client secret at that provider; empty for a public client"
    )
    oidc_name: str = Field(
        default="single sign-on", description="What the login page calls that provider"
    )
    oidc_join: Literal["viewer", "submitter", "reviewer"] | None = Field(
        default=None,
        description="Role of people the provider vouches for who are no members yet; empty: refused",
    )
    listen_connections: int = Field(
        default=512, ge=16, description="Most connections to the console and API at a time"
    )
    listen_connections_per_address: int = Field(
        default=64, ge=1, description="Most connections, or requests under way, of one address"
    )
    listen_head_seconds: float = Field(
        default=10.0, gt=0, description="Seconds a request's head may take to arrive"
    )
    listen_body_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Seconds a request's body may stall; after them it must bring 8 KB a second",
    )
    console_requests_per_minute: int = Field(
        default=1_200, ge=1, description="Requests that one member may send to the console"
    )
    console_stranger_requests_per_minute: int = Field(
        default=300, ge=1, description="Console requests of one address without a login"
    )
    streams_per_member: int = Field(
        default=10, ge=1, description="Live pages, or streams of events, open for one member or key"
    )
    public_submission: bool = Field(
        default=False, description="Whether anybody may submit domains, without an account"
    )
    api_requests_per_minute: int = Field(
        default=600, ge=1, description="Requests that one member or key may send to the API"
    )
    api_stranger_requests_per_minute: int = Field(
        default=120, ge=1, description="Requests from one address that nobody answers for"
    )
    api_streams: int = Field(
        default=100, ge=0, description="Streams of events open at a time in one process"
    )
    api_ingestions: int = Field(
        default=50, ge=0, description="Ingestions asked of the API under way in one process"
    )

    search_engines: dict[str, EngineOptions] = Field(
        default_factory=dict,
        description="Search engines by name, asked in this order: url, key, cost, monthly_budget",
    )

    ai_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible endpoint, such as https://host/v1; empty does without",
    )
    ai_key: SecretStr | None = Field(default=None, description="Its API key")
    ai_model: str | None = Field(default=None, description="The model to ask there")
    ai_input_price: Decimal = Field(
        default=Decimal(0), ge=0, description="Price of a million tokens it reads"
    )
    ai_output_price: Decimal = Field(
        default=Decimal(0), ge=0, description="Price of a million tokens it writes"
    )
    ai_job_tokens: int | None = Field(default=500_000, ge=0, description="Most tokens for one job")
    ai_domain_tokens: int | None = Field(
        default=5_000_000, ge=0, description="Most tokens for a domain in a month"
    )
    ai_monthly_tokens: int | None = Field(
        default=50_000_000, ge=0, description="Most tokens in a month"
    )
    ai_job_budget: Decimal | None = Field(
        default=None, ge=0, description="Most to spend on one job"
    )
    ai_domain_budget: Decimal | None = Field(
        default=None, ge=0, description="Most to spend on a domain in a month"
    )
    ai_monthly_budget: Decimal | None = Field(
        default=Decimal(10), ge=0, description="Most to spend in a month"
    )
    ai_output_tokens: int = Field(default=2_000, ge=1, description="Most tokens of one answer")
    ai_chunk_chars: int = Field(
        default=12_000, ge=200, description="Characters of a page in one question"
    )
    ai_chunks: int = Field(default=4, ge=1, description="Most questions about one page")
    ai_timeout: float = Field(
        default=60.0, gt=0, description="Seconds the model has for one answer"
    )
    ai_pages: Literal["verticals", "all", "none"] = Field(
        default="verticals",
        description="Pages the model reads for records: of domains in a vertical, all, or none",
    )

    record_kinds: list[str] = Field(
        default_factory=list,
        description='Kinds of records that are read of pages, such as ["product"]; empty reads all',
    )
    image_domains: list[str] = Field(
        default_factory=list,
        description="Domains, or verticals, whose product pictures are downloaded; * is all",
    )
    images_per_page: int = Field(
        default=8, ge=1, le=100, description="Most pictures of one product"
    )

    retention_months: int = Field(
        default=13, ge=0, description="Months that logs are kept; 0 keeps them for ever"
    )
    retention_by_log: dict[str, int] = Field(
        default_factory=dict,
        description='Months for single logs instead, such as {"http_fetches": 3}',
    )
    segment_bytes: int = Field(
        default=128_000_000, ge=1, description="Size at which a segment is sealed"
    )
    proxy_probe_target: str | None = Field(
        default=None,
        description="Where probes have proxies connect to, such as example.org:443; by default the contact's host",
    )
    ca_file: Path | None = Field(
        default=None, description="Extra certificate authorities (PEM) trusted for TLS"
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description="Seals proxy passwords; needed when workers run on several machines",
    )

    secret_key_previous: SecretStr | None = Field(
        default=None,
        description="The former MESSOR_SECRET_KEY, until `messor db rotate-key` has run",
    )

    browser: Literal["auto", "off"] = Field(
        default="auto", description="Render pages with an installed Chromium where a gate asks"
    )
    browser_path: Path | None = Field(
        default=None, description="Chromium's program; empty looks for one"
    )
    browser_contexts: int = Field(default=2, ge=1, description="Pages rendered at a time")
    browser_renders: int = Field(
        default=50, ge=1, description="Renders before the browser is replaced"
    )
    browser_memory_mb: int = Field(
        default=1024, ge=1, description="Memory above which it is replaced; twice that kills it"
    )
    browser_seconds: float = Field(default=30.0, gt=0, description="Longest render")
    browser_requests_here: int = Field(
        default=30, ge=0, description="Requests of a page to its own host"
    )
    browser_requests_elsewhere: int = Field(
        default=60, ge=0, description="Requests of a page to other hosts"
    )
    browser_bytes: int = Field(default=20_000_000, ge=1, description="Most bytes of a render")

    crawl4ai_url: str | None = Field(default=None, description="A Crawl4AI server to fall back on")
    crawl4ai_key: SecretStr | None = Field(default=None, description="Its bearer token")
    crawl4ai_contract: Literal["auto", "current", "spec"] = Field(
        default="auto", description="Which form of its requests to use"
    )
    crawl4ai_cost: Decimal = Field(
        default=Decimal(0), ge=0, description="What one of its pages costs"
    )
    crawl4ai_monthly_budget: Decimal | None = Field(
        default=None, ge=0, description="Most to spend on it in a month"
    )
    firecrawl_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("firecrawl_url", "messor_firecrawl_url", "firecrawl_api_url"),
        description="A Firecrawl server; the public one when only a key is set (also FIRECRAWL_API_URL)",
    )
    firecrawl_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("firecrawl_key", "messor_firecrawl_key", "firecrawl_api_key"),
        description="Its bearer token (also FIRECRAWL_API_KEY)",
    )
    firecrawl_contract: Literal["auto", "current", "spec"] = Field(
        default="auto", description="Which form of its requests to use"
    )
    firecrawl_cost: Decimal = Field(
        default=Decimal("0.001"), ge=0, description="What one of its credits costs"
    )
    firecrawl_monthly_budget: Decimal | None = Field(
        default=None, ge=0, description="Most to spend on it in a month"
    )
    log_level: str | None = Field(
        default=None,
        description="debug, info, warning or error, for single rooms too: info,fetch=debug; by "
        "default info for `messor up` and `messor worker`, warning for other commands",
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Log lines for people, or one JSON object per line"
    )

    service_timeout: float = Field(
        default=30.0, gt=0, description="Seconds a service has for one page"
    )

    @field_validator("log_level")
    @classmethod
    def is_log_level(cls, value: str | None) -> str | None:
        for part in (value or "info").split(","):
            if part.rpartition("=")[2].strip().lower() not in LOG_LEVELS:
                raise ValueError(
                    f"{part.strip()!r} is not a log level; use {', '.join(LOG_LEVELS)}, or "
                    "ROOM=LEVEL such as fetch=debug"
                )
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (
            init_settings,
            env_settings,
            dotenv_settings,
            TomlConfigSettingsSource(settings_cls, toml_file=toml_file()),
            file_secret_settings,
        )


def toml_file() -> Path:
    return Path(os.environ.get("MESSOR_CONFIG", "messor.toml"))


def setting_sources() -> dict[str, str]:
    """Where each setting that is not at its default came from; the strongest source wins."""
    sources = {
        str(toml_file()): TomlConfigSettingsSource(Settings, toml_file=toml_file()),
        ".env": DotEnvSettingsSource(Settings),
        "environment": EnvSettingsSource(Settings),
    }
    found: dict[str, str] = {}
    for name, source in sources.items():
        found.update(dict.fromkeys(source(), name))
    return found
