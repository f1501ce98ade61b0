"""The end of a match in which squares count, after people have agreed which stones are dead."""

from collections.abc import Iterable

import torch

from selfplay.compute.bit_algebra import word_of
from selfplay.compute.positions import packed_array
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.state import State


def without_stones(game: Game, state: State, dead: Iterable[int]) -> State:
    """A finished match (B = 1) whose result is that without the stones on these squares.

    Raises IllegalActionError if there is no stone on one of them.
    """
    chosen = set(dead)
    if not chosen <= set(game.squares(state)[0].nonzero()[:, 0].tolist()):
        raise IllegalActionError("only stones on the board can be dead")
    (position,) = game.positions(state)
    kept = ~word_of(sorted(chosen), game.num_squares or 0)
    left = position._replace(own=position.own & kept, opp=position.opp & kept)
    ended = game.state_at(torch.from_numpy(packed_array([left])))
    returns = torch.where(state.current_player == 0, ended.returns, -ended.returns)
    return ended._replace(current_player=state.current_player, returns=returns)
