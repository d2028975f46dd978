"""What runs automatically: cadences, leadership, and the orchestrators."""
