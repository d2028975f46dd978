"""Discovery: search engines, keywords, result pages, judges and candidates."""
