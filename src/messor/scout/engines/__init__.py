"""Search engines behind one interface, found through entry points, asked with budget and back-off."""
