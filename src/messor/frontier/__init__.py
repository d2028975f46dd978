"""What is due: pages, crawl tasks, and the links that lead to new ones."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "batch_lines", "batch_queries", "batches", "cadence", "control",
    "failed_task_queries", "page_queries", "runs", "sitemaps", "task_queries", "tasks",
)  # fmt: skip
