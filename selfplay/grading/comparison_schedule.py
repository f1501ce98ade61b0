"""Who meets whom when the levels of a large game are compared, and how the matches go."""

from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from selfplay.compute.devices import chosen_device
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.executors import Executor
from selfplay.games import Game, make_game
from selfplay.matches.result_counts import Tally, tally_matches
from selfplay.players.levels import level_player
from selfplay.players.player import Player
from selfplay.players.registry import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import ComparisonSettings, Settings

Who = int | str
"""A level by its number, 0 the random player, or a reference by its name."""
Pair = tuple[Who, Who]

USUAL_LEVELS = 10
"""How many levels meet the references unless the settings say so."""


class Meeting(NamedTuple):
    """Matches between two players."""

    settings: Settings
    pair: Pair
    matches: int


def name_of(who: Who) -> str:
    """The name of the player, as in `selfplay.players.registry`."""
    return who if isinstance(who, str) else f"level:{who}" if who else "random"


def player_of(settings: Settings, game: Game, who: Who) -> Player:
    """The player itself. Raises as `level_player` and `make_player`."""
    if isinstance(who, int):
        return level_player(settings, game, who)
    return make_player(who, game, Path(settings.run_dir))


def spaced_levels(levels: Sequence[int], every: int | None) -> list[int]:
    """Some of the trained levels (in order, one at least), the first and the newest always among them.

    `every`: every so many levels one, counted back from the newest; None: ten or fewer, evenly spaced.
    """
    if every is None:
        count = min(USUAL_LEVELS, len(levels))
        return [levels[number] for number in np.linspace(0, len(levels) - 1, count).round().astype(int).tolist()]
    return sorted({levels[0], *levels[::-every]})


def schedule(levels: Sequence[int], references: Sequence[str], settings: ComparisonSettings) -> dict[Pair, int]:
    """How many matches each pair plays.

    Every level meets its predecessor and the random player; the spaced ones meet the references; the newest meets the
    spaced ones; and each reference meets the one before it in the list, the first one the random player, which steadies
    the scale.

    Args:
        levels: the trained levels, in order.
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


def play_meetings(
    settings: Settings, pairs: dict[Pair, int], executor: Executor, progress: ProgressBar = NoProgress
) -> dict[Pair, Tally]:
    """The results of these pairs, counted for the first of each; the executor plays pairs side by side."""
    meetings = [Meeting(settings, pair, matches) for pair, matches in pairs.items()]
    tallies: dict[Pair, Tally] = {}
    files = RunFolder(Path(settings.run_dir)).player_files()
    with closing(progress(total=len(pairs), desc="comparing levels")) as bar:
        for pair, tally in zip(pairs, executor.map(play_meeting, meetings, files), strict=True):
            tallies[pair] = tally
            bar.update(1)
    return tallies


def play_meeting(meeting: Meeting) -> Tally:
    """Play the matches of two players. All pairs begin from the same openings, which makes results comparable."""
    settings, (one, other) = meeting.settings, meeting.pair
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    players = player_of(settings, game, one), player_of(settings, game, other)
    key = stream_key(settings.seed, 0, Activity.MEASUREMENT)
    plies, device = settings.comparison.opening_plies, chosen_device(settings.device)
    return tally_matches(game, players, meeting.matches, key, settings.batch_size, plies, device)
