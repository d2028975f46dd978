"""Search engines behind one interface, found through entry points, used with budget and back-off."""
