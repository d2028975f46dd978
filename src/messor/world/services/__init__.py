"""Stand-ins of outside services, on loopback: they speak the wire, they are not the services."""

from messor.world.services.crawl4ai import Crawl4AIStandIn
from messor.world.services.firecrawl import FirecrawlStandIn
from messor.world.services.rendering import Render, Rendered, WorldBrowser
from messor.world.services.standin import Asked, Failure, StandIn

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
