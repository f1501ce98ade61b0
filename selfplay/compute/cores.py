"""How many cores and threads a process may use."""

import os

_solver_threads = [1]


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_solver_threads(number: int | None) -> None:
    """Set the number of threads in which exact solvers made from now on search one position; None: one per core."""
    _solver_threads[0] = usable_cores() if number is None else number


def solver_threads() -> int:
    """The number of threads in which a new exact solver searches one position: 1, unless it has been set."""
    return _solver_threads[0]
