"""Matches of a player that searches against itself, as afterstates that tables learn from."""

import numpy as np
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import Game
from selfplay.games.outcomes import EndValues, outcome_of_other
from selfplay.games.pattern_planes import Planes, seen_in_packed
from selfplay.games.state import MATCH_OVER
from selfplay.matches.arena import play_batch
from selfplay.players.exploring import opening_lengths
from selfplay.players.player import Player
from selfplay.training.td_matches import Afterstates, MatchParameters


def play_searched(
    game: Game,
    player: Player,
    parameters: MatchParameters,
    planes: Planes,
    first: int,
    played: Afterstates,
    begin: int,
    end: int,
) -> None:
    """Play the matches from `first + begin` to before `first + end` into rows `begin` to `end - 1` of `played`.

    `best` has the value that the player finds, by its search, in the position before each ply. So the target of an
    afterstate has the values that are found from there on.

    Args:
        player: explores, and `searched` gives its searches.
        planes: what the tables see.
        parameters: the key and the largest number of random plies at the start are used; the player has its own rates.
    """
    match = torch.arange(first + begin, first + end)
    record = play_batch(game, (player, player), match, torch.zeros(len(match), dtype=torch.int8), parameters.key)
    lengths, ends = torch.zeros(len(match), dtype=torch.int64), EndValues(*parameters.finished.tolist())
    for ply, (state, after, action) in enumerate(zip(record.states, record.states[1:], record.actions, strict=False)):
        draws = Draws(parameters.key, match, ply)
        found, explored = player.searched(state, draws), player.explores(draws)
        assert found is not None, "a player whose searches give values"
        assert explored is not None, "a player that explores"
        # An action that the search takes anyway is not explored.
        explored &= found.policy.gather(1, action.clamp(min=0)[:, None])[:, 0] < 1
        played.explored[begin:end, ply] = explored.numpy()
        again = after.current_player == state.current_player
        values = torch.where(again, -found.value, found.value)
        values = values.where(~after.terminated, outcome_of_other(game, after, ends).double())
        played.values[begin:end, ply], played.best[begin:end, ply] = values.numpy(), found.value.numpy()
        played.again[begin:end, ply] = again.numpy()
        played.positions[begin:end, ply] = np.stack(seen_in_packed(game, after.position.numpy(), planes), axis=1)
        lengths += action != MATCH_OVER
    openings = opening_lengths(Draws(parameters.key, match, 0), parameters.opening_plies)
    played.first[begin:end] = (openings - 1).clamp(min=0).numpy()
    played.plies[begin:end] = played.exact[begin:end] = np.maximum(lengths.numpy() - 1, 0)
