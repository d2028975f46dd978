"""All settings; the only module that reads the environment.

Sources, highest precedence first: arguments, `MESSOR_*` variables, `.env`, the TOML file named by
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
    """Addresses that the address guard allows besides public ones on ports 80 and 443.

    Empty by default. `names` are static host names: `"shop.test:80" = "127.0.0.2:18080"` sends
    requests for that authority to that address without a DNS lookup.
    """

    addresses: list[str] = Field(default_factory=list)
    ports: list[int] = Field(default_factory=list)
    names: dict[str, str] = Field(default_factory=dict)

    @field_validator("addresses")
    @classmethod
    def are_networks(cls, value: list[str]) -> list[str]:
        for text in value:
            try:
                ip_network(text, strict=False)
            except ValueError as error:
                raise ValueError(f"{text!r} is no network; write it as 10.1.0.0/16") from error
        return value

    @field_validator("names")
    @classmethod
    def lead_somewhere(cls, value: dict[str, str]) -> dict[str, str]:
        for name, target in value.items():
            address, _, port = target.rpartition(":")
            try:
                ip_address(address.strip("[]"))
                int(port)
            except ValueError as error:
                raise ValueError(
                    f"{name!r} leads to {target!r}; give an address and a port, as 10.1.2.3:8080"
                ) from error
        return value


class EngineOptions(BaseModel):
    """Options of one search engine; omitted ones take the engine's defaults."""

    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    key: SecretStr | None = None
    cost: Decimal | None = Field(default=None, ge=0)  # per search
    monthly_budget: Decimal | None = Field(default=None, ge=0)
    timeout: float = Field(default=30.0, gt=0, le=120)  # well below the hold on a search


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="MESSOR_", env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    data_dir: Path = Field(
        default=Path(".messor"), description="Folder for the embedded database and the archive"
    )
    database_url: str | None = Field(
        default=None,
        description="URL of an external PostgreSQL (14 or newer); empty: run an embedded one",
    )
    postgres_bin: Path | None = Field(
        default=None, description="Folder with the PostgreSQL binaries for the embedded server"
    )
    postgres_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="TCP port on 127.0.0.1 for the embedded server; 0: Unix socket only",
    )

    contact: str = Field(
        default="https://example.invalid/set-MESSOR_CONTACT",
        pattern=r"^[!-~]+$",
        description="URL or mailto: where site owners can reach you; sent in the user agent",
    )
    agent_token: str = Field(
        default="MessorBot",
        pattern="^[A-Za-z_-]+$",
        description="Product token matched in robots.txt",
    )
    identity_url: str | None = Field(
        default=None,
        pattern=r"^https://[^/?#@\s]+/?$",
        description="Public https URL at which Messor's keys and bot page are served, such as https://bot.example.org; requests are signed (Web Bot Auth) when it is set",
    )
    identity_purposes: list[str] = Field(
        default_factory=lambda: ["search", "tdm"],
        description="What the crawl is for, as the bot page and the agent card say it",
    )
    identity_ranges: list[str] = Field(
        default_factory=list,
        description='Networks that requests come from, as published, such as ["203.0.113.0/28"]',
    )
    payment_adapter: Literal["none", "stand-in"] = Field(
        default="none",
        description="What pays approved prices: none, or stand-in, which speaks the protocols and moves no money",
    )
    allowed_networks: AllowedNetworks = Field(
        default_factory=AllowedNetworks,
        description="Non-public networks, ports and static names that may be fetched",
    )
    shared_address_ranges: list[str] = Field(
        default_factory=list, description="CDN networks exempt from the per-address limit"
    )

    default_delay: float = Field(
        default=1.0, ge=0, description="Seconds between requests to the same host"
    )
    delay_jitter: float = Field(
        default=0.0, ge=0, le=1, description="Random extra delay, as a fraction of the delay"
    )
    address_slots: int = Field(
        default=4, ge=1, description="Maximum hosts visited at a time per IP address"
    )
    worker_lease: float = Field(default=30.0, ge=1, description="Worker lease duration in seconds")
    visit_seconds: float = Field(
        default=60.0, gt=0, description="Maximum duration of a visit, in seconds"
    )
    visit_pages: int = Field(default=50, ge=1, description="Maximum pages per visit")
    flush_seconds: float = Field(default=0.5, gt=0, description="Maximum seconds between flushes")
    flush_pages: int = Field(
        default=200, ge=1, description="Number of waiting pages that triggers a flush"
    )
    concurrency: int = Field(default=512, ge=1, description="Maximum concurrent visits per worker")

    job_concurrency: int = Field(default=16, ge=1, description="Maximum concurrent jobs per worker")
    min_free_disk: str = Field(
        default="5%",
        pattern=r"^\s*\d+(\.\d+)?\s*(%|[KMGTkmgt]?[Bb])?\s*$",
        description="Free disk space below which fetching and extraction pause: percentage, or size such as 2GB",
    )
    worker_memory_mb: int = Field(
        default=1024,
        ge=64,
        description="Memory in MB above which a worker is restarted; at twice that it is killed",
    )
    hang_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Seconds without a sign of life after which a process is killed and replaced; time in which it could not run does not count",
    )
    broker_url: SecretStr | None = Field(
        default=None,
        description="RabbitMQ URL (amqp:// or amqps://) for job hints; empty: workers poll PostgreSQL only",
    )
    broker_queue_type: Literal["classic", "quorum"] = Field(
        default="classic", description="RabbitMQ queue type; use quorum on a cluster"
    )
    broker_queue_length: int = Field(
        default=100_000, ge=1, description="Maximum hints per RabbitMQ queue; further ones wait"
    )

    connect_timeout: float = Field(default=10.0, gt=0, description="Connection timeout in seconds")
    total_timeout: float = Field(
        default=30.0, gt=0, description="Timeout of a whole request in seconds"
    )
    max_body_bytes: int = Field(
        default=10_000_000, ge=1, description="Maximum response body as transferred, in bytes"
    )
    max_decoded_bytes: int = Field(
        default=20_000_000, ge=1, description="Maximum response body after decompression, in bytes"
    )
    max_redirects: int = Field(
        default=10, ge=0, description="Maximum redirects in a row, of all kinds"
    )

    listen_host: str = Field(
        default="127.0.0.1", description="Address on which `messor up` serves the console and API"
    )
    listen_port: int = Field(
        default=8321, ge=0, le=65535, description="Port of the console and API; 0 picks a free one"
    )
    metrics_listen: str | None = Field(
        default=None,
        description="host:port at which this machine's metrics are served to Prometheus, such as 127.0.0.1:9464; empty: not served",
    )
    public_url: str | None = Field(
        default=None, description="Public URL of the console, for example behind a reverse proxy"
    )
    allowed_hosts: list[str] = Field(
        default_factory=list,
        description="Additional host names accepted by the console and API, such as *.example.org; * allows all",
    )
    trusted_proxies: list[str] = Field(
        default_factory=list,
        description="Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted",
    )
    two_factor: Literal["optional", "required"] = Field(
        default="optional",
        description="Whether members who log in with a password need a second factor: optional or required",
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="Issuer URL of the OpenID Connect provider for single sign-on",
    )
    oidc_client_id: str | None = Field(
        default=None, description="Client ID at the OpenID Connect provider"
    )
    oidc_client_secret: SecretStr | None = Field(
        default=None,
        description="Client secret at the OpenID Connect provider; empty for a public client",
    )
    oidc_name: str = Field(
        default="single sign-on",
        description="Name of the OpenID Connect provider on the login page",
    )
    oidc_join: Literal["viewer", "submitter", "reviewer"] | None = Field(
        default=None,
        description="Role for OpenID Connect users who are not members yet: viewer, submitter or reviewer; empty: refuse them",
    )
    listen_connections: int = Field(
        default=512, ge=16, description="Maximum concurrent connections to the console and API"
    )
    listen_connections_per_address: int = Field(
        default=64, ge=1, description="Maximum concurrent connections or requests per client IP"
    )
    listen_head_seconds: float = Field(
        default=10.0, gt=0, description="Seconds a client has to send the request headers"
    )
    listen_body_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Seconds a request body may stall; after that it must arrive at 8 KB/s or faster",
    )
    console_requests_per_minute: int = Field(
        default=1_200, ge=1, description="Console requests per minute per member"
    )
    console_stranger_requests_per_minute: int = Field(
        default=300, ge=1, description="Unauthenticated console requests per minute per IP"
    )
    streams_per_member: int = Field(
        default=10, ge=1, description="Maximum open live pages or event streams per member or key"
    )
    public_submission: bool = Field(
        default=False, description="Whether domains may be submitted without an account"
    )
    mcp_key: SecretStr | None = Field(
        default=None, description="API key of `messor mcp` over standard input and output"
    )
    api_requests_per_minute: int = Field(
        default=600, ge=1, description="API requests per minute per member or key"
    )
    api_stranger_requests_per_minute: int = Field(
        default=120, ge=1, description="Unauthenticated API requests per minute per IP"
    )
    api_streams: int = Field(
        default=100, ge=0, description="Maximum open event streams per process"
    )
    api_ingestions: int = Field(
        default=50, ge=0, description="Maximum concurrent API ingestions per process"
    )

    mail_host: str | None = Field(
        default=None, description="SMTP server for mail to submitters; empty: no mail is sent"
    )
    mail_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="Port of the SMTP server; empty: 587 for starttls, 465 for tls, 25 for none",
    )
    mail_tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Encryption of the connection: starttls, tls or none"
    )
    mail_user: str | None = Field(default=None, description="User name at the SMTP server")
    mail_password: SecretStr | None = Field(default=None, description="Password at the SMTP server")
    mail_from: str | None = Field(
        default=None,
        description="Sender of mails, such as Messor <messor@example.org>; required with mail_host",
    )

    alert_mail: list[str] = Field(
        default_factory=list,
        description='Addresses that are told what needs attention, such as ["ops@example.org"]',
    )
    search_engines: dict[str, EngineOptions] = Field(
        default_factory=dict,
        description="Search engines by name, in the order they are tried; each has url, key, cost, monthly_budget, timeout",
    )

    search_server_url: str | None = Field(
        default=None,
        description="URL of an Elasticsearch or OpenSearch server for full-text search; empty: PostgreSQL serves searches",
    )
    search_server_key: SecretStr | None = Field(
        default=None, description="API key for the search server, sent as given"
    )
    search_server_user: str | None = Field(
        default=None, description="User name for the search server, if it does not use API keys"
    )
    search_server_password: SecretStr | None = Field(
        default=None, description="Password for the search server"
    )
    search_server_index: str = Field(
        default="messor",
        pattern="^[a-z0-9][a-z0-9_.-]{0,99}$",
        description="Alias of the index of pages and records on the search server",
    )
    search_server_products: str = Field(
        default="products",
        pattern="^[a-z0-9][a-z0-9_.-]{0,99}$",
        description="Alias of the index for products only",
    )
    search_server_timeout: float = Field(
        default=5.0,
        gt=0,
        le=60,
        description="Seconds that a search waits for the search server before PostgreSQL is used",
    )

    ai_url: str | None = Field(
        default=None,
        description="URL of an OpenAI-compatible endpoint, such as https://host/v1; empty: no model is used",
    )
    ai_key: SecretStr | None = Field(default=None, description="API key of the model endpoint")
    ai_model: str | None = Field(default=None, description="Model name at the endpoint")
    ai_input_price: Decimal = Field(
        default=Decimal(0), ge=0, description="Price per million input tokens"
    )
    ai_output_price: Decimal = Field(
        default=Decimal(0), ge=0, description="Price per million output tokens"
    )
    ai_job_tokens: int | None = Field(default=500_000, ge=0, description="Maximum tokens per job")
    ai_domain_tokens: int | None = Field(
        default=5_000_000, ge=0, description="Maximum tokens per domain per month"
    )
    ai_monthly_tokens: int | None = Field(
        default=50_000_000, ge=0, description="Maximum tokens per month"
    )
    ai_job_budget: Decimal | None = Field(default=None, ge=0, description="Maximum cost per job")
    ai_domain_budget: Decimal | None = Field(
        default=None, ge=0, description="Maximum cost per domain per month"
    )
    ai_monthly_budget: Decimal | None = Field(
        default=Decimal(10), ge=0, description="Maximum cost per month"
    )
    ai_output_tokens: int = Field(default=2_000, ge=1, description="Maximum tokens per response")
    ai_chunk_chars: int = Field(
        default=12_000, ge=200, description="Characters of page text per model request"
    )
    ai_chunks: int = Field(default=4, ge=1, description="Maximum model requests per page")
    ai_timeout: float = Field(
        default=60.0, gt=0, description="Timeout of a model request in seconds"
    )
    ai_pages: Literal["verticals", "all", "none"] = Field(
        default="verticals",
        description="Pages sent to the model: those of domains in a vertical, all, or none",
    )

    record_kinds: list[str] = Field(
        default_factory=list,
        description='Record kinds to extract, such as ["product"]; empty: all',
    )
    image_domains: list[str] = Field(
        default_factory=list,
        description="Domains or verticals whose product images are downloaded; * means all",
    )
    images_per_page: int = Field(default=8, ge=1, le=100, description="Maximum images per product")

    export_places: dict[str, str] = Field(
        default_factory=dict,
        description="Folders and buckets for standing exports by name, such as "
        '{"lake": "/srv/lake", "cloud": "s3://bucket/prefix"}',
    )

    clickhouse_url: SecretStr | None = Field(
        default=None,
        description="URL of ClickHouse for analytics, such as http://user:password@host:8123/messor; empty: DuckDB",
    )
    analytics_dir: Path | None = Field(
        default=None,
        description="Folder of the Parquet files of analytics; empty: analytics in the data folder",
    )
    query_seconds: float = Field(
        default=30.0, gt=0, le=600, description="Maximum seconds of a query over analytics"
    )
    query_memory_mb: int = Field(
        default=512, ge=64, description="Maximum memory of a query over analytics, in MB"
    )
    query_rows: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Maximum rows of a query over analytics"
    )

    product_archive_days: int = Field(
        default=0,
        ge=0,
        description="Days after which a product that its site removed is archived; 0: never",
    )

    retention_months: int = Field(
        default=13, ge=0, description="Months that logs are kept; 0: forever"
    )
    retention_by_log: dict[str, int] = Field(
        default_factory=dict,
        description='Months per log, overriding retention_months, such as {"http_fetches": 3}',
    )
    segment_bytes: int = Field(
        default=128_000_000, ge=1, description="Size in bytes at which an archive segment is closed"
    )
    archive_url: str | None = Field(
        default=None,
        pattern=r"^(s3://[^/#?]+|file:///[^#?]+)[^#?]*$",
        description="Object store for the archive, such as s3://bucket/prefix; empty: a folder on this machine",
    )
    archive_endpoint: str | None = Field(
        default=None, description="URL of an S3-compatible server; empty: AWS"
    )
    archive_region: str | None = Field(default=None, description="Region of the archive's bucket")
    archive_key_id: str | None = Field(
        default=None, description="Access key of the archive; empty: the machine's own credentials"
    )
    archive_secret: SecretStr | None = Field(default=None, description="Secret key of the archive")
    archive_encryption: Literal["AES256", "aws:kms"] | None = Field(
        default=None, description="Server-side encryption of new objects: AES256 or aws:kms"
    )
    archive_kms_key: str | None = Field(
        default=None, description="Key for aws:kms; empty: the bucket's default key"
    )
    archive_cache_mb: int = Field(
        default=1024, ge=0, description="Megabytes of the archive's objects cached on this machine"
    )
    texts: Literal["database", "archive"] = Field(
        default="database",
        description="Where the markdown of new pages is stored: database, or archive (beside the bytes)",
    )
    backup_to: str | None = Field(
        default=None,
        description="Folder or object store for scheduled backups, such as /srv/backups or s3://bucket/prefix",
    )
    backup_keep: int = Field(default=7, ge=1, description="Scheduled backups to keep")
    backup_passphrase: SecretStr | None = Field(
        default=None,
        description="Seals the installation's key in backups; empty: backups have no key",
    )
    proxy_requests_per_second: int = Field(
        default=5,
        ge=1,
        le=5,
        description="Limit of requests per second to one domain through one proxy, in each worker",
    )
    proxy_probe_target: str | None = Field(
        default=None,
        description="host:port that proxy probes connect to, such as example.org:443; default: the host of the contact URL",
    )
    ca_file: Path | None = Field(
        default=None, description="PEM file of additional certificate authorities to trust"
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description="Encrypts stored secrets such as proxy passwords; required when workers run on several machines",
    )

    secret_key_previous: SecretStr | None = Field(
        default=None,
        description="Previous MESSOR_SECRET_KEY; needed until `messor db rotate-key` has run",
    )

    browser: Literal["auto", "off"] = Field(
        default="auto",
        description="Whether pages that fail a gate are rendered with an installed Chromium",
    )
    browser_path: Path | None = Field(
        default=None, description="Path of the Chromium binary; empty: search for one"
    )
    browser_contexts: int = Field(default=2, ge=1, description="Maximum pages rendered at a time")
    browser_renders: int = Field(
        default=50, ge=1, description="Renders after which the browser is restarted"
    )
    browser_memory_mb: int = Field(
        default=1024,
        ge=1,
        description="Memory in MB above which the browser is restarted; at twice that it is killed",
    )
    browser_seconds: float = Field(
        default=30.0, gt=0, description="Maximum duration of a render, in seconds"
    )
    browser_requests_here: int = Field(
        default=30, ge=0, description="Maximum requests of a rendered page to its own host"
    )
    browser_requests_elsewhere: int = Field(
        default=60, ge=0, description="Maximum requests of a rendered page to other hosts"
    )
    browser_bytes: int = Field(
        default=20_000_000, ge=1, description="Maximum bytes transferred per render"
    )

    crawl4ai_url: str | None = Field(
        default=None, description="URL of a Crawl4AI server to fall back on"
    )
    crawl4ai_key: SecretStr | None = Field(
        default=None, description="Bearer token of the Crawl4AI server"
    )
    crawl4ai_contract: Literal["auto", "current", "spec"] = Field(
        default="auto", description="Crawl4AI request format"
    )
    crawl4ai_cost: Decimal = Field(
        default=Decimal(0), ge=0, description="Cost per page fetched by Crawl4AI"
    )
    crawl4ai_monthly_budget: Decimal | None = Field(
        default=None, ge=0, description="Maximum Crawl4AI cost per month"
    )
    firecrawl_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("firecrawl_url", "messor_firecrawl_url", "firecrawl_api_url"),
        description="URL of a Firecrawl server; the public one when only a key is set (also FIRECRAWL_API_URL)",
    )
    firecrawl_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("firecrawl_key", "messor_firecrawl_key", "firecrawl_api_key"),
        description="Bearer token of the Firecrawl server (also FIRECRAWL_API_KEY)",
    )
    firecrawl_contract: Literal["auto", "current", "spec"] = Field(
        default="auto", description="Firecrawl request format"
    )
    firecrawl_cost: Decimal = Field(
        default=Decimal("0.001"), ge=0, description="Cost per Firecrawl credit"
    )
    firecrawl_monthly_budget: Decimal | None = Field(
        default=None, ge=0, description="Maximum Firecrawl cost per month"
    )
    log_level: str | None = Field(
        default=None,
        description="Log level: debug, info, warning or error, optionally per room: info,fetch=debug; "
        "empty: info for `messor up` and `messor worker`, warning for other commands",
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Format of log lines: text, or json (one object per line)"
    )

    service_timeout: float = Field(
        default=30.0,
        gt=0,
        description="Timeout of a request to a page-fetching service, in seconds",
    )

    @field_validator("identity_ranges")
    @classmethod
    def are_networks(cls, value: list[str]) -> list[str]:
        return AllowedNetworks.are_networks(value)

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
    """Return the source of each setting that is not at its default."""
    sources = {
        str(toml_file()): TomlConfigSettingsSource(Settings, toml_file=toml_file()),
        ".env": DotEnvSettingsSource(Settings),
        "environment": EnvSettingsSource(Settings),
    }
    found: dict[str, str] = {}
    for name, source in sources.items():
        found.update(dict.fromkeys(source(), name))
    return found
