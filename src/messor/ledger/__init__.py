"""What happened? Events, decisions and errors."""
