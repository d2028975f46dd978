"""May it leave? One function that everything passes on its way out of the installation."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("decide", "permissions", "queries", "release", "report", "uses")
