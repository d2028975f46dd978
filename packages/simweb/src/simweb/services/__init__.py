"""Stand-ins for external services on loopback, with the real wire formats."""

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
