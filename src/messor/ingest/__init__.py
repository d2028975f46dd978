"""Ingestion in one call: a URL in, tiles and evidence out.

It fetches nothing itself. It queues a few tasks at the highest priority and waits until workers
have done them in their lanes, so it is as polite as any crawl.
"""

from messor.ingest.ingest import ingest
from messor.ingest.progress import Progress
from messor.ingest.request import IngestRequest, Mode
from messor.ingest.result import Ingestion

__all__ = ["IngestRequest", "Ingestion", "Mode", "Progress", "ingest"]

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("hindsight", "ingest", "queries", "request", "result", "versions")
