"""External services that fetch pages: Crawl4AI and Firecrawl, behind the provider interface."""
