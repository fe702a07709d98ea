"""The installed version."""

from importlib import metadata


def version() -> str:
    """Return the version of the installed distribution."""
    return metadata.version("lemmascope")
