"""How many cores and threads a process may use."""

import os

_search_threads = [1]


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_search_threads(number: int | None) -> None:
    """Set the number of threads in which solvers and searchers made from now on search a position.

    None: one per core.
    """
    _search_threads[0] = usable_cores() if number is None else number


def search_threads() -> int:
    """The number of threads in which a new solver or searcher searches a position: 1, unless it has been set."""
    return _search_threads[0]
