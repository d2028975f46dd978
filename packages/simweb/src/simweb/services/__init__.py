"""Stand-ins of outside services, on loopback: they speak the wire, they are not the services."""

from simweb.services.crawl4ai import Crawl4AIStandIn
from simweb.services.firecrawl import FirecrawlStandIn
from simweb.services.render import Render, Rendered, WorldBrowser
from simweb.services.standin import Asked, Failure, StandIn

__all__ = [
    "Asked",
    "Crawl4AIStandIn",
    "Failure",
    "FirecrawlStandIn",
    "Render",
    "Rendered",
    "StandIn",
    "WorldBrowser",
]
