"""What is undone when a process ends without Python's exit handlers, as a command does on Ctrl-C during an import."""

from collections.abc import Callable

_cleanups: list[Callable[[], None]] = []


def before_exit(cleanup: Callable[[], None]) -> None:
    """Register a function for `clean_up`; it must not print."""
    _cleanups.append(cleanup)


def clean_up() -> None:
    """Call all registered functions: end worker processes and engines, and delete unfinished files."""
    for cleanup in _cleanups:
        cleanup()
