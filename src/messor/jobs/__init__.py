"""Who does it? Leased jobs with fencing, retries and dead letters; knows no handler."""
