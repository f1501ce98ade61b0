"""Finds the temperatures of the strengths below the strongest, by series of matches of each against the next above."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import NamedTuple

WANTED, NEAR = 0.77, 0.05
"""The score of a strength against the next below that is looked for, and how far it may be from it."""
COLDEST, HOTTEST = 1e-3, 1e3
WARMER, LARGEST_STEP = 1.2, 3.0
"""How many times the temperature of the strength above a search begins with at least, and may go at once."""


class FoundTemperature(NamedTuple):
    """The temperature of a strength."""

    temperature: float
    score: float
    """The points per match of the next strength above, from 0 to 1."""


def find_temperatures(
    score: Callable[[str, str], float], usual: Mapping[str, float], most_tries: int
) -> dict[str, FoundTemperature]:
    """The temperatures of the strengths below the strongest, the weakest first, found from above by bisection.

    Args:
        score: plays matches between the players with two names, such as `strongest` and `hard?temperature=0.7`, and
            returns the points per match of the first.
        usual: the temperatures with which the search begins, by strength, the weakest first.
        most_tries: the most temperatures that are tried of each; the best of them is taken.
    """
    above, found = "strongest", dict[str, FoundTemperature]()
    for strength in reversed(list(usual)):
        hotter = [WARMER * one.temperature for one in list(found.values())[-1:]]
        found[strength] = _found(strength, above, score, min(max(usual[strength], *hotter, 0.0), HOTTEST), most_tries)
        above = _named(strength, found[strength].temperature)
    return dict(reversed(found.items()))


def _found(
    strength: str, above: str, score: Callable[[str, str], float], temperature: float, most_tries: int
) -> FoundTemperature:
    low, high, tried = COLDEST, HOTTEST, dict[float, float]()
    for _ in range(most_tries):
        temperature = float(f"{temperature:.3g}")
        tried[temperature] = score(above, _named(strength, temperature))
        is_weak_enough = tried[temperature] >= WANTED
        if abs(tried[temperature] - WANTED) <= NEAR or (temperature >= HOTTEST and not is_weak_enough):
            break
        low, high = (low, temperature) if is_weak_enough else (temperature, high)
        temperature = min(max(sqrt(low * high), temperature / LARGEST_STEP), temperature * LARGEST_STEP, HOTTEST)
    best = min(tried, key=lambda one: abs(tried[one] - WANTED))
    return FoundTemperature(best, tried[best])


def _named(strength: str, temperature: float) -> str:
    return f"{strength}?temperature={temperature:.3g}"
