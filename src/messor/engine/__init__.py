"""The path of a page: visit, flush, why."""
