"""Which stones of Go are dead where both players have passed, so that people need not capture them, and the end of a
match without them.

From the position, many matches are played on at random, in which nobody fills their own eyes. A chain is dead if its
crossings are seldom its player's at the end. A chain that cannot be captured even if its player always passes
(`Rules.safe`) is alive whatever the matches say. web/exported/dead_stones.js finds the same.
"""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, word_of
from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import IllegalActionError
from selfplay.games.chains import chain_rules
from selfplay.games.game import Game
from selfplay.games.state import State, joined

PLAYOUTS = 48
"""The matches that are played on with each colour to move."""
SURVIVAL = 0.5
"""A chain is dead if less than this share of its crossings are its player's at the end, on average."""

Squares = NDArray[np.int8]


def dead_stones(game: Game, state: State, key: int) -> list[int]:
    """The crossings of the dead stones of a position (B = 1) of a game that knows which stones are `Rules.safe`, in
    ascending order.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
    """
    assert game.rules.safe is not None, "stones can be dead in games that know which are safe"
    squares = game.squares(state)[0].numpy().astype(np.int8)
    if not squares.any():
        return []
    owners = owners_after_playouts(game, squares, key)
    survived = (owners == squares).sum(axis=0)
    mine, other = game.rules.safe(game.positions(state)[0])
    dead = list[int]()
    for colour in (1, -1):
        for chain in chains_of(word_of(np.flatnonzero(squares == colour).tolist(), squares.size), game):
            crossings = [crossing for crossing in range(squares.size) if chain >> crossing & 1]
            is_safe = chain & (mine | other) != 0
            if not is_safe and survived[crossings].sum() < SURVIVAL * len(owners) * len(crossings):
                dead += crossings
    return sorted(dead)


def expected_territory(game: Game, state: State, key: int) -> list[float]:
    """Who can be expected to own each crossing of a position (B = 1): the mean of `owners_after_playouts`,
    from 1 (seat 0 in all of them) to -1 (seat 1)."""
    squares = game.squares(state)[0].numpy().astype(np.int8)
    means: list[float] = owners_after_playouts(game, squares, key).mean(axis=0).round(3).tolist()
    return means


def owners_after_playouts(game: Game, squares: Squares, key: int) -> Squares:
    """int8[2 * PLAYOUTS, S]: who owns each crossing at the end of matches played on at random: 1, -1 or 0."""
    starts = [game.set_up(squares.tolist(), to_move) for to_move in (0, 1)]
    state = joined([start for start in starts for _ in range(PLAYOUTS)])
    matches, passing = torch.arange(state.batch_size), len(squares)
    for ply in range(game.max_game_length):
        if bool(state.terminated.all()):
            break
        free = game.sensible_action_mask(state).numpy()[:, :passing]
        shares, count = Draws(key, matches, ply).uniforms(Purpose.RANDOM_ACTION).numpy(), free.sum(axis=1)
        ranks = np.floor(shares * count).astype(np.int64)
        chosen = (free.cumsum(axis=1) > ranks[:, None]).argmax(axis=1)
        state = game.step_unchecked(state, torch.from_numpy(np.where(count > 0, chosen, passing)))
    return game.owners(state).numpy()


def chains_of(stones: Word, game: Game) -> list[Word]:
    """The stones in groups that are connected along lines."""
    connected, chains = chain_rules(game.observation_shape[2]).connected, list[Word]()
    while stones:
        chains.append(chain := connected(stones, stones & -stones))
        stones = stones ^ chain
    return chains


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
