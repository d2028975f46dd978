"""When does it run by itself? Cadences, leadership, and the orchestrators that run by them."""
