"""What each screen shows and does: thin, over the rooms below."""
