"""The statements that the specifications print, as printed, by the schema they run in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SPECS = Path(__file__).parents[3] / "shared" / "specs"
SCHEMAS = {"000": "wellness", "001": "forager", "002": "approval", "003": "funding", "004": "orbit"}

SUBMIT = """
INSERT INTO crawl_tasks (domain_id, url, url_hash, status, priority, scheduled_at)
VALUES (1, 'https://example.com/product1', SHA256('...'), 'pending', 5, NOW());
"""
PENDING = """
SELECT * FROM crawl_tasks
WHERE status = 'pending'
  AND scheduled_at <= NOW()
ORDER BY priority ASC, scheduled_at ASC
LIMIT 100;
"""
DUE = "SELECT * FROM crawl_tasks WHERE scheduled_at <= NOW() AND status = 'pending'"
BY_PRICE = """
SELECT p.*, d.domain_name
FROM products p
JOIN domains d ON p.domain_id = d.id
WHERE p.price BETWEEN 10 AND 100
  AND p.availability = 'in_stock'
ORDER BY p.created_at DESC
LIMIT 20;
"""
FULL_TEXT = """
SELECT * FROM products
WHERE to_tsvector('english', product_name || ' ' || COALESCE(description, ''))
  @@ to_tsquery('english', 'wireless & headphones')
ORDER BY ts_rank(to_tsvector('english', product_name || ' ' || description),
                  to_tsquery('english', 'wireless & headphones')) DESC;
"""
FAILING_PROXIES = "UPDATE proxies SET is_active = FALSE WHERE failure_count > 10"
UNPRODUCTIVE = """
SELECT ps.url
FROM page_snapshots ps
LEFT JOIN extractions e ON e.page_snapshot_id = ps.id
WHERE ps.crawled_at > NOW() - INTERVAL '90 days'
GROUP BY ps.url
HAVING COUNT(e.id) = 0;
"""
BACKFILL = "UPDATE domains SET status = 'approved' WHERE status IS NULL;"

PRINTED = {
    "forager": (SUBMIT, PENDING, DUE, BY_PRICE, FULL_TEXT, FAILING_PROXIES),
    "approval": (UNPRODUCTIVE, BACKFILL),
}


def words(statement: str) -> str:
    """A statement without its line breaks, comments and last semicolon."""
    plain = re.sub(r"--[^\n]*", "", statement)
    return " ".join(plain.split()).rstrip("; ")


def printed(text: str) -> Iterator[str]:
    """Every SELECT, INSERT and UPDATE of a specification that is printed from its first word."""
    blocks = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    for piece in [part for block in blocks for part in block.split(";")] + inline:
        statement = words(piece)
        if re.match(r"(SELECT|INSERT INTO|UPDATE \w+ SET)\b", statement):
            yield statement


def is_complete(statement: str) -> bool:
    """Whether nothing of it is left out: three dots in quotes are a text."""
    return "..." not in re.sub(r"'[^']*'", "", statement)
