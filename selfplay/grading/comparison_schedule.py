"""The schedule of a comparison: the reference players, which players meet, and in how many matches."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.matches.series import PairMatches
from selfplay.players.agent import level_player
from selfplay.players.player import Player
from selfplay.players.player_names import make_player
from selfplay.search.evaluation import make_evaluation
from selfplay.settings.run import Settings
from selfplay.settings.sections import ComparisonSettings

RANDOM = "random"
MOST_LINES = 1_000_000
"""The most lines of play that a reference without an evaluation may have to search for one action."""
ARTICLE, NONE = "article", "none"


def reference_names(game: Game, names: Sequence[str] | None) -> list[str]:
    """The names of the references: `names` without duplicates, or by default those that suit the game, weak ones first.

    The random player is not included, because every level meets it as level 0. The defaults are the player that
    maximises its points after one ply, if the game counts points, and NegaScout at several depths. These are 1 to 6
    plies with the evaluation `article` if it fits the game; otherwise 2, 4 and 6 plies without an evaluation, if the
    number of actions is small enough.
    """
    if names is not None:
        return [name for name in dict.fromkeys(names) if name != RANDOM]
    greedy = ["greedy_discs"] if game.rules.margin is not None else []
    evaluation = _fitting_evaluation(game)
    shallow = [depth for depth in (2, 4, 6) if game.num_distinct_actions**depth <= MOST_LINES]
    depths = shallow if evaluation == NONE else range(1, 7)
    return [*greedy, *(f"search:negascout?depth={depth}&evaluation={evaluation}" for depth in depths)]


def average_player(game: Game) -> str:
    """The name of a fast player that avoids immediate blunders and explores; its matches resemble those of people."""
    return f"search:negascout?depth=2&evaluation={_fitting_evaluation(game)}&epsilon=0.25"


def _fitting_evaluation(game: Game) -> str:
    try:
        make_evaluation(ARTICLE, game)
    except SettingError:
        return NONE
    return ARTICLE


Who = int | str
"""A level by its number, 0 the random player, or a reference by its name."""
Pair = tuple[Who, Who]
Task = PairMatches[Settings, Who]

DEFAULT_LEVELS = 10
"""Number of levels that meet the references, unless the settings specify it."""


def name_of(who: Who) -> str:
    """The name of the player, as in `selfplay.players.player_names`."""
    return who if isinstance(who, str) else f"level:{who}" if who else "random"


def player_of(settings: Settings, game: Game, who: Who) -> Player:
    """The player. Raises as `level_player` and `make_player`."""
    if isinstance(who, int):
        return level_player(settings, game, who)
    return make_player(who, game, Path(settings.run_dir))


def sampled_matches(settings: Settings, levels: Sequence[int]) -> list[Task]:
    """Matches of each trained level against the level before it, then of each against the random player.

    Levels explore in matches against each other, because two deterministic players would repeat a few matches.
    """

    def matches(level: int, opponent: int, activity: Activity, epsilons: Sequence[float] = ()) -> Task:
        how, key = settings.comparison, stream_key(settings.seed, level, activity)
        pair, seconds = (level, opponent), how.pair_seconds
        return PairMatches(settings, pair, player_of, how.matches, key, epsilons=epsilons, seconds=seconds)

    epsilons = settings.comparison.epsilons
    pairs = pairwise([0, *levels])
    previous = [matches(level, before, Activity.VERSUS_PREVIOUS, epsilons) for before, level in pairs]
    return [*previous, *(matches(level, 0, Activity.VERSUS_RANDOM) for level in levels)]


def spaced_levels(levels: Sequence[int], every: int | None) -> list[int]:
    """Some of the trained levels (at least one, in order), always with the first and the newest.

    `every`: choose every n-th level, counted back from the newest; None: up to ten, evenly spaced.
    """
    if every is None:
        count = min(DEFAULT_LEVELS, len(levels))
        return [levels[number] for number in np.linspace(0, len(levels) - 1, count).round().astype(int).tolist()]
    return sorted({levels[0], *levels[::-every]})


def schedule(levels: Sequence[int], references: Sequence[str], settings: ComparisonSettings) -> dict[Pair, int]:
    """The number of matches of each pair. `levels`: the trained levels, in order.

    Every level meets its predecessor and the random player; the spaced levels meet the references; the newest level
    meets the spaced levels; and each reference meets the one before it in the list, the first one the random player,
    which makes the ratings more precise.
    """
    pairs: dict[Pair, int] = {}
    for before, level in pairwise([0, *levels]):
        pairs[level, before] = pairs[level, 0] = settings.matches
    newest, spaced = levels[-1], spaced_levels(levels, settings.every)
    for level in spaced:
        matches = settings.matches if level == newest else settings.earlier_matches
        pairs |= {(level, reference): matches for reference in references}
    pairs |= {(newest, level): settings.matches for level in spaced if level != newest}
    ladder: list[Who] = [*reversed(references), 0]
    return pairs | dict.fromkeys(pairwise(ladder), settings.earlier_matches)


def scheduled_matches(settings: Settings, pairs: Mapping[Pair, int]) -> list[Task]:
    """The matches of a `schedule`. All pairs play from the same openings, which makes their results comparable."""
    key = stream_key(settings.seed, 0, Activity.MEASUREMENT)
    plies, seconds = settings.comparison.opening_plies, settings.comparison.pair_seconds
    return [
        PairMatches(settings, pair, player_of, matches, key, plies, seconds=seconds) for pair, matches in pairs.items()
    ]
