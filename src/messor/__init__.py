"""Messor: a governed web-intelligence crawler."""


def __getattr__(name: str) -> str:
    """The version, read when it is asked for: what reads it takes as long to load as all else here."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("messor")
