"""What happened: events, decisions and errors."""
