"""Where is more? Search engines, keywords, result pages, judges and candidates."""
