"""What a comparison compares: levels, reference players, and the matches between them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from selfplay.agents.agent import Agent
from selfplay.checks import check_parameters, count, within
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import GameTooLargeError
from selfplay.games import Game
from selfplay.games.position_graph import positions_of
from selfplay.games.state import State
from selfplay.grading.proof import Grader
from selfplay.matches.series import PairResult, PairSeries, Series
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.feature_evaluation import RESULT_ONLY, FeatureEvaluation

LONGEST_PAIR = 10**6
"""The longest time limit of a pair, in seconds: more than a week."""

Who = int | str
"""A level by its number, 0 the random player, or a reference by its name."""
Pair = tuple[Who, Who]


@dataclass(frozen=True)
class ComparisonParameters:
    """How levels are compared. Those from `opening_plies` on are for games too large to enumerate."""

    matches: int = field(default=1000, metadata=count(2))
    """Matches of a level against its predecessor, and against each other opponent."""
    epsilons: list[float] = field(default_factory=[0.5, 0.5, 0.1].copy, metadata=within(0, 1))
    """Exploration rates by ply against the level before."""
    opening_plies: int = field(default=8, metadata=count(0))
    """Random plies at the start of each match, the same from both seats."""
    every: int | None = field(default=None, metadata=count(1))
    """Play level 1, the newest and every n-th level against the references; null: about ten."""
    earlier_matches: int = field(default=100, metadata=count(2))
    """Matches against each reference of a level other than the newest, and between references."""
    endgames: int = field(default=100, metadata=count(0))
    """Solved endgame positions in which players are tested, where no solver solves whole matches."""
    pair_seconds: float | None = field(default=None, metadata=within(above=0, most=LONGEST_PAIR))
    """Seconds for the matches of a pair, of which at least two are played. null: no limit."""
    judged: int = field(default=100, metadata=count(0))
    """Positions in each of six groups in which an exact solver judges players."""
    perfect_matches: int = field(default=10, metadata=count(0))
    """Matches in each seat against perfect play, of the levels that `every` names."""


# ---------------------------------------------------------------------- which pairs meet

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


def scheduled_matches(pairs: dict[Pair, int], parameters: ComparisonParameters, seed: int) -> list[PairSeries[Who]]:
    """The matches of a `schedule`. All pairs play from the same openings, which makes their results comparable."""
    key = stream_key(seed, 0, Activity.MEASUREMENT)
    series = Series(range(0), key, opening_plies=parameters.opening_plies, seconds=parameters.pair_seconds)
    return [PairSeries(pair, replace(series, matches=range(matches))) for pair, matches in pairs.items()]


def sampled_matches(levels: Sequence[int], parameters: ComparisonParameters, seed: int) -> list[PairSeries[Who]]:
    """Matches of each trained level against the level before it, then of each against the random player.

    Levels explore in matches against each other, because two deterministic players would repeat a few matches.
    """

    def matches(level: int, opponent: int, activity: Activity, epsilons: Sequence[float] = ()) -> PairSeries[Who]:
        numbers, key, seconds = range(parameters.matches), stream_key(seed, level, activity), parameters.pair_seconds
        return PairSeries((level, opponent), Series(numbers, key, epsilons=epsilons, seconds=seconds))

    pairs, epsilons = pairwise([0, *levels]), parameters.epsilons
    previous = [matches(level, before, Activity.VERSUS_PREVIOUS, epsilons) for before, level in pairs]
    return [*previous, *(matches(level, 0, Activity.VERSUS_RANDOM) for level in levels)]


# ---------------------------------------------------------------------- levels and references


def name_of(who: Who) -> str:
    """What tables and sentences call a level or a reference: level:3, random, or the name of the reference."""
    return who if isinstance(who, str) else f"level:{who}" if who else "random"


def grader_of(game: Game) -> Grader | None:
    """The grader of a game, made once in a process; None if the game is too large to enumerate."""
    if game.identity not in _graders:
        try:
            _graders[game.identity] = Grader(positions_of(game))
        except GameTooLargeError:
            _graders[game.identity] = None
    return _graders[game.identity]


_graders: dict[object, Grader | None] = {}


class ValuedPosition(NamedTuple):
    """A position, and the exact value of every action."""

    state: State
    values: Mapping[int, int]
    """The value to the player to move of each legal action, in ascending order of actions."""
    group: str = ""


Keep = Callable[[str, Mapping[str, Any], Callable[[], list[ValuedPosition]]], list[ValuedPosition]]
"""(name, record, make) to solved positions: those that are kept under this name with this record, otherwise those of
`make`. `record`: everything that they depend on, as JSON."""


def made_anew(name: str, record: Mapping[str, Any], make: Callable[[], list[ValuedPosition]]) -> list[ValuedPosition]:
    """Those of `make`; nothing is kept."""
    return make()


@dataclass(frozen=True)
class Compared:
    """The levels that are compared, the reference players, and the matches between them."""

    game: Game
    players: Mapping[Who, Player]
    """The levels by their numbers, in order, with at least one that is trained, then the references by their names,
    weak ones first. Level 0 is the random player. In a game that can be enumerated references are not used."""
    parameters: ComparisonParameters = field(default_factory=ComparisonParameters)
    seed: int = 0
    batch_size: int | None = None
    """As for `Series`."""
    agents: Mapping[int, Agent] = field(default_factory=dict)
    """The trained levels, if they have policies to be measured; else empty."""
    play_pairs: Callable[[Sequence[PairSeries[Who]]], Sequence[PairResult]] | None = None
    """Plays series of matches, as `Series.play` does, perhaps in several processes; None: one after the other."""
    evaluation: FeatureEvaluation = RESULT_ONLY
    """Of the searches whose matches give the positions that are solved."""
    keep: Keep = made_anew
    """Keeps the positions that are solved."""
    notes: Sequence[str] = ()
    """Lines about the levels for the report."""
    advice: Sequence[str] = ()
    """Lines for the report if levels do not improve: what to change."""
    progress: ProgressBar = NoProgress

    def __post_init__(self) -> None:
        check_parameters(self.parameters, "parameters.")

    @property
    def levels(self) -> list[int]:
        """All levels, from 0."""
        return [0, *self.trained]

    @cached_property
    def trained(self) -> list[int]:
        """The trained levels."""
        return [who for who in self.players if isinstance(who, int) and who > 0]

    @property
    def newest(self) -> int:
        return self.trained[-1]

    @property
    def spaced(self) -> list[int]:
        """The levels that meet the references."""
        return spaced_levels(self.trained, self.parameters.every)

    @property
    def grader(self) -> Grader | None:
        """None if the game is too large to enumerate."""
        return grader_of(self.game)

    @cached_property
    def references(self) -> list[str]:
        """The names of the reference players, without the random player; none in a game that can be enumerated."""
        return [] if self.grader is not None else [who for who in self.players if isinstance(who, str)]

    def play(self, series: Sequence[PairSeries[Who]]) -> Sequence[PairResult]:
        """Play series of matches between these players."""
        if self.play_pairs is not None:
            return self.play_pairs(series)
        return [
            replace(each, batch_size=self.batch_size).play(self.game, (self.players[one], self.players[other]))
            for (one, other), each in series
        ]

    @cached_property
    def played(self) -> list[tuple[Pair, PairResult]]:
        """The pairs that met and their results, counted for the first of each pair.

        In a game that can be enumerated level 1 meets level 0 twice, first with exploration as its predecessor.
        """
        parameters, seed = self.parameters, self.seed
        if self.grader is None:
            series = scheduled_matches(schedule(self.trained, self.references, parameters), parameters, seed)
        else:
            series = sampled_matches(self.trained, parameters, seed)
        return [(each.pair, result) for each, result in zip(series, self.play(series), strict=True)]

    @cached_property
    def results(self) -> dict[Pair, PairResult]:
        """The result of each pair."""
        return dict(self.played)

    @cached_property
    def versus_previous(self) -> dict[int, PairResult]:
        """The result of each trained level against the level before it."""
        results = dict(reversed(self.played))
        return {level: results[level, before] for before, level in pairwise(self.levels)}
