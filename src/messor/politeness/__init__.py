"""How the crawler behaves towards hosts: lanes, pace, risk, friction, applicable robots.txt."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("hosts", "lanes", "limits", "prospects", "risk", "traffic")
