"""Who does it? Leased jobs with fencing; knows no handler."""
