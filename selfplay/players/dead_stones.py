"""Which stones of Go are dead where both players have passed, so that people need not capture them.

From the position, many matches are played on at random, in which nobody fills their own eyes. A chain is dead if its
crossings are seldom its player's at the end. A chain that its player's opponent cannot capture even if the player
always passes (D. Benson, Life in the game of Go, Information Sciences 10, 1976) is alive whatever the matches say.
"""

from functools import reduce
from operator import xor

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import word_of
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.compute.words import WordInt
from selfplay.games.chains import chain_rules
from selfplay.games.game import Game
from selfplay.games.state import State

PLAYOUTS = 48
"""The matches that are played on with each colour to move."""
SURVIVAL = 0.5
"""A chain is dead if less than this share of its crossings are its player's at the end, on average."""

Squares = NDArray[np.int8]


def dead_stones(game: Game, state: State, key: int) -> list[int]:
    """The crossings of the dead stones of a position (B = 1) of Go, in ascending order.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
    """
    squares = game.squares(state)[0].numpy().astype(np.int8)
    if not squares.any():
        return []
    width = game.observation_shape[2]
    survival = (owners_after_playouts(game, squares, key) == squares).mean(axis=0)
    alive, dead = pass_alive(squares, width), list[int]()
    for colour in (1, -1):
        for chain in chains_of(_word(squares == colour), width):
            crossings = [crossing for crossing in range(len(squares)) if chain >> crossing & 1]
            if chain & ~alive and float(survival[crossings].mean()) < SURVIVAL:
                dead += crossings
    return sorted(dead)


def owners_after_playouts(game: Game, squares: Squares, key: int) -> Squares:
    """int8[2 * PLAYOUTS, S]: who owns each crossing at the end of matches played on at random: 1, -1 or 0."""
    starts = [game.set_up(squares.tolist(), to_move) for to_move in (0, 1)]
    state = State(*(torch.cat(fields).repeat_interleave(PLAYOUTS, dim=0) for fields in zip(*starts, strict=True)))
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


def pass_alive(squares: Squares, width: int) -> WordInt:
    """The crossings of the chains that cannot be captured even if their player always passes."""
    beside, empty = chain_rules(width).beside, _word(squares == 0)

    def vital_regions(chain: WordInt, regions: list[WordInt]) -> int:
        """The number of regions all of whose empty crossings, of which there are some, are liberties of the chain."""
        return sum((region & empty) != 0 and (region & empty & ~beside(chain)) == 0 for region in regions)

    found: WordInt = empty ^ empty
    for colour in (1, -1):
        stones, regions = _word(squares == colour), chains_of(_word(squares != colour), width)
        chains, count = chains_of(stones, width), -1
        while count != len(chains):
            count = len(chains)
            chains = [chain for chain in chains if vital_regions(chain, regions) >= 2]
            others = reduce(xor, chains, stones)
            regions = [region for region in regions if not beside(region) & others]
        found |= stones ^ others
    return found


def chains_of(crossings: WordInt, width: int) -> list[WordInt]:
    """The crossings in groups that are connected along lines."""
    connected, chains = chain_rules(width).connected, list[WordInt]()
    while crossings:
        chains.append(chain := connected(crossings, crossings & -crossings))
        crossings = crossings ^ chain
    return chains


def _word(crossings: NDArray[np.bool_]) -> WordInt:
    return word_of(np.flatnonzero(crossings).tolist(), crossings.size)
