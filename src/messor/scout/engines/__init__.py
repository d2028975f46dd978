"""Search engines behind one interface, found by entry points, with budget and back-off."""
