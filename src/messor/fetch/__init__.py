"""Fetching: the address guard, HTTP, browser and services, limits and typed outcomes."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "browser", "browser.limits", "guard", "identity.keys", "identity.message_signatures",
    "identity.publication", "providers", "proxies.costs", "proxies.placement", "proxies.probe",
    "proxies.proxy", "proxies.registry", "proxies.seal", "proxies.target", "queries",
    "services.health", "services.holds", "services.identity_provider", "signing_keys", "txt_records",
)  # fmt: skip
