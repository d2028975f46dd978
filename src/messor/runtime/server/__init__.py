"""The HTTP server, bounded so that members keep access while strangers misuse it."""
