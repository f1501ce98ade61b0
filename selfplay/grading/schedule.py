"""Which matches a comparison of levels has: between levels, and against the reference players."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from selfplay.checks import count, within
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.matches.series import PairMatches

Who = int | str
"""A level by its number, 0 the random player, or a reference by its name."""
Pair = tuple[Who, Who]


@dataclass(frozen=True)
class ComparisonParameters:
    """How levels are compared. Those from `opening_plies` on are for games too large to enumerate."""

    matches: int = field(default=1000, metadata=count(2))
    """Matches of a level against its predecessor, and against each other opponent."""
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.1], metadata=within(0, 1))
    """Exploration rates by ply of both players in the matches between a level and its predecessor."""
    opening_plies: int = field(default=8, metadata=count(0))
    """Random plies at the start of each match, the same from both seats. Othello has 244 openings of four plies and
    390,216 of eight."""
    every: int | None = field(default=None, metadata=count(1))
    """Play level 1, the newest and every n-th level between against the references; null: about ten levels."""
    earlier_matches: int = field(default=100, metadata=count(2))
    """Matches against each reference of a level other than the newest, and between references."""
    endgames: int = field(default=100, metadata=count(0))
    """Number of solved endgame positions (few empty squares) in which players are tested; 0: none. If the exact solver
    of a game can solve whole matches, `judged` is used instead."""
    pair_seconds: float | None = field(default=None, metadata=within(above=0))
    """Time limit for the matches of a pair. Matches are played until the time is over, at least two. Their number
    depends on the computer and is in the tables. null: no limit."""
    judged: int = field(default=100, metadata=count(0))
    """Positions in each of six groups, by stage and difficulty, in which an exact solver judges players; 0: none."""
    perfect_matches: int = field(default=10, metadata=count(0))
    """Matches in each seat against perfect play, from the initial position, of level 1, the newest and every n-th level
    between; 0: none."""


DEFAULT_LEVELS = 10
"""Number of levels that meet the references, unless `every` is given."""


def spaced_levels(levels: Sequence[int], every: int | None) -> list[int]:
    """Some of the trained levels (at least one, in order), always with the first and the newest.

    `every`: choose every n-th level, counted back from the newest; None: up to ten, evenly spaced.
    """
    if every is None:
        number = min(DEFAULT_LEVELS, len(levels))
        return [levels[place] for place in np.linspace(0, len(levels) - 1, number).round().astype(int).tolist()]
    return sorted({levels[0], *levels[::-every]})


def schedule(levels: Sequence[int], references: Sequence[str], parameters: ComparisonParameters) -> dict[Pair, int]:
    """The number of matches of each pair. `levels`: the trained levels, in order.

    Every level meets its predecessor and the random player; the spaced levels meet the references; the newest level
    meets the spaced levels; and each reference meets the one before it in the list, the first one the random player,
    which makes the ratings more precise.
    """
    pairs: dict[Pair, int] = {}
    for before, level in pairwise([0, *levels]):
        pairs[level, before] = pairs[level, 0] = parameters.matches
    newest, spaced = levels[-1], spaced_levels(levels, parameters.every)
    for level in spaced:
        matches = parameters.matches if level == newest else parameters.earlier_matches
        pairs |= {(level, reference): matches for reference in references}
    pairs |= {(newest, level): parameters.matches for level in spaced if level != newest}
    ladder: list[Who] = [*reversed(references), 0]
    return pairs | dict.fromkeys(pairwise(ladder), parameters.earlier_matches)


def scheduled_matches(pairs: dict[Pair, int], parameters: ComparisonParameters, seed: int) -> list[PairMatches[Who]]:
    """The matches of a `schedule`. All pairs play from the same openings, which makes their results comparable."""
    key = stream_key(seed, 0, Activity.MEASUREMENT)
    plies, seconds = parameters.opening_plies, parameters.pair_seconds
    return [PairMatches(pair, matches, key, plies, seconds=seconds) for pair, matches in pairs.items()]


def sampled_matches(levels: Sequence[int], parameters: ComparisonParameters, seed: int) -> list[PairMatches[Who]]:
    """Matches of each trained level against the level before it, then of each against the random player.

    Levels explore in matches against each other, because two deterministic players would repeat a few matches.
    """

    def matches(level: int, opponent: int, activity: Activity, epsilons: Sequence[float] = ()) -> PairMatches[Who]:
        key, seconds = stream_key(seed, level, activity), parameters.pair_seconds
        return PairMatches((level, opponent), parameters.matches, key, epsilons=epsilons, seconds=seconds)

    pairs, epsilons = pairwise([0, *levels]), parameters.epsilons
    previous = [matches(level, before, Activity.VERSUS_PREVIOUS, epsilons) for before, level in pairs]
    return [*previous, *(matches(level, 0, Activity.VERSUS_RANDOM) for level in levels)]
