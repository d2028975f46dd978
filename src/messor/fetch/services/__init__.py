"""Outside services that fetch pages for us: Crawl4AI and Firecrawl, behind the provider seam."""
