"""Matches of a level against itself and earlier levels (opponents=pool)."""

from collections.abc import Callable, Iterator
from functools import cache

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.learners.learner import Resources
from selfplay.matches.arena import USUAL_BATCH_SIZE, Players, play_batch
from selfplay.players.player import Player


def against_pool(
    game: Game, player_of: Callable[[int], Player], level: int, matches: range, key: int, resources: Resources
) -> Iterator[list[tuple[MatchRecord, Players]]]:
    """Matches of a level against itself and earlier levels, a batch at a time, with a record per opponent.

    The level moves first in matches with even numbers.
    """
    players = cache(player_of)
    for numbers in torch.split(torch.arange(matches.start, matches.stop), resources.batch_size or USUAL_BATCH_SIZE):
        opponents = drawn_opponents(key, numbers, level)
        records = []
        for opponent in sorted(set(opponents.tolist())):
            match = numbers[opponents == opponent]
            pair = players(level), players(opponent)
            record = play_batch(game, pair, match, (match % 2).to(torch.int8), key, device=resources.device)
            records.append((record, pair))
        yield records


def drawn_opponents(key: int, matches: Tensor, level: int) -> Tensor:
    """int64[B]: the level that is the opponent in each of the matches numbered `matches` (int64[B]).

    Half of the matches are against the level itself, and the earlier levels (level 0 is the random player) share the
    rest equally.
    """
    drawn: Tensor = below(Draws(key, matches, 0).bits(Purpose.OPPONENT), 2 * level)
    return torch.where(drawn < level, drawn, level)
