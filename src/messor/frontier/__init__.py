"""What is due: pages, crawl tasks, and the links that lead to new ones."""
