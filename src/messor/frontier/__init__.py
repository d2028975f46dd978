"""What is due? Pages, crawl tasks and the links that lead to new ones."""
