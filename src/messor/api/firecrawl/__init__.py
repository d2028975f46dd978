"""Firecrawl's API, so that its clients work with Messor when their base URL is changed.

The paths, bodies and codes are Firecrawl's; what happens is Messor's: approval, robots.txt, pace and
rights rule, and a refusal is typed and explained.
"""
