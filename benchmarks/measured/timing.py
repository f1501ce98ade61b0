"""Times and rates, measured after a warm-up."""

from collections.abc import Callable
from statistics import median
from time import perf_counter


def seconds(function: Callable[[], object], repeats: int) -> float:
    """The median time of a call of `function`, after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return median(times)


def per_second(work: Callable[[int], int], smallest: int, least: float, repeats: int) -> float:
    """The amount of `work` done per second, measured with an amount that takes at least `least` seconds."""
    amount = smallest
    while True:
        start = perf_counter()
        work(amount)
        if perf_counter() - start >= least:
            break
        amount *= 2
    times = []
    for _ in range(repeats):
        start = perf_counter()
        done = work(amount)
        times.append((perf_counter() - start) / done)
    return 1 / median(times)
