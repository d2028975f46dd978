"""Background work: leased jobs with fencing, retries and dead letters; knows no handler."""
