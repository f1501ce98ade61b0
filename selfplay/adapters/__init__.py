"""Adapters to other libraries, one file each. Each needs its library, which is an optional dependency."""

from collections.abc import Iterator
from contextlib import contextmanager

from selfplay.settings.command_lines import installation


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Say how to install the packages that are imported in the block if one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error.msg}; run {installation(extra)}", name=error.name) from error
