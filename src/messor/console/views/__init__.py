"""The screen handlers: thin, on top of the rooms below."""
