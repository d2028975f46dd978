"""The API: one of the three doors. It is thin: what it does is done in the rooms below."""
