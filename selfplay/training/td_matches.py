"""Matches of tables of patterns against themselves, played in compiled code, and the targets of their afterstates.

Both players take the action that leads to the afterstate of the highest value, or explore: they take any action with
the probability of the ply. A player who can win does not explore.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import borrowed, compiled, part_of_compiled, register_rules
from selfplay.compute.random_numbers import Purpose, below, random_bits, uniform_bits
from selfplay.games.pattern_sums import SquareImages, change_of_sum, change_position, sum_of_weights
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.games.rules import Rules
from selfplay.search.evaluation import finished_value

EXPLORE, RANDOM_ACTION = int(Purpose.EXPLORE), int(Purpose.RANDOM_ACTION)


class Afterstates(NamedTuple):
    """The afterstates of R matches of at most M plies each that values are learned for: all but the last one."""

    words: NDArray[np.int64]
    """int64[R, M, 2]: the words of the player who has just moved and of the player to move."""
    targets: NDArray[np.float64]
    """float64[R, M]"""
    plies: NDArray[np.int64]
    """int64[R]: the number of afterstates."""


class SelfPlay(NamedTuple):
    """How matches are played."""

    key: int
    """The stream of random numbers."""
    epsilons: NDArray[np.float64]
    """The exploration rate of each ply; the last one holds for all later plies."""
    finished: NDArray[np.float64]
    """As in `selfplay.search.evaluation.EvaluationParameters`."""
    trace_decay: float
    discount: float
    """The factor of a value for each ply."""


def no_afterstates(number: int, most_plies: int) -> Afterstates:
    """Room for this number of matches."""
    return Afterstates(
        np.empty((number, most_plies, 2), dtype=np.int64),
        np.empty((number, most_plies)),
        np.empty(number, dtype=np.int64),
    )


@part_of_compiled
def write_lambda_returns(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    explored: NDArray[np.bool_],
    trace_decay: float,
    discount: float,
    targets: NDArray[np.float64],
) -> None:
    """Write the target of each afterstate of a match but the last, whose value is the outcome of the match.

    The lambda-return (Sutton & Barto, 2018, section 12.1), G(t) = d ((1 - lambda) V(t + 1) + lambda G(t + 1)), negated
    at each ply, because the players take turns; d is the discount. Where the player explored at t + 1 it is cut: G(t)
    is then the discounted and negated value of the best action there, as in Watkins's Q(lambda) (section 12.10).

    Args:
        values: float64[n], of the afterstates, each to the player who moved there.
        best: float64[n], of the best action of that player.
        explored: bool[n], whether the player took another action.
        targets: float64[n - 1] or more.
    """
    following = values[-1]
    for ply in range(len(values) - 2, -1, -1):
        following = (1.0 - trace_decay) * values[ply + 1] + trace_decay * following
        if explored[ply + 1]:
            following = best[ply + 1]
        following *= -discount
        targets[ply] = following


class Scratch(NamedTuple):
    """What is known of a match that is being played."""

    entries: NDArray[np.int32]
    """int32[2, I]: the entries of the position, as if player 0 had just moved, and as if player 1 had."""
    changed: NDArray[np.int32]
    """int32[I]: the entries of an afterstate."""
    current: NDArray[np.float32]
    """float32[I]: the weights of the entries of the position in phase `known[0]`."""
    known: NDArray[np.float64]
    """float64[2]: that phase, or -1; and the sum of these weights."""
    values: NDArray[np.float64]
    """float64[M]: the values of the afterstates so far, each to the player who moved there."""
    best: NDArray[np.float64]
    """float64[M]: the value of the best action of each ply."""
    explored: NDArray[np.bool_]
    """bool[M]: whether another action was taken."""


def new_scratch(images: int, most_plies: int) -> Scratch:
    """Scratch memory for one thread."""
    return Scratch(
        np.empty((2, images), dtype=np.int32),
        np.empty(images, dtype=np.int32),
        np.empty(images, dtype=np.float32),
        np.empty(2),
        np.empty(most_plies),
        np.empty(most_plies),
        np.empty(most_plies, dtype=np.bool_),
    )


@part_of_compiled
def afterstate_sum(
    own: Word,
    opp: Word,
    just_moved: Word,
    to_move: Word,
    entries: NDArray[np.int32],
    tables: TrainableTables,
    images: SquareImages,
    scratch: Scratch,
) -> Word:
    """The sum of the weights of an unfinished afterstate of a position (own, opp); its value is the tanh of it.

    `entries`: int32[I], of the position, as if its player to move had just moved.
    """
    _, _, weight_of_entry, all_weights, squares, parities = tables
    phase = phase_of(just_moved, to_move, len(all_weights), squares, parities)
    weights, stone = all_weights[phase], just_moved ^ own
    if to_move != opp or bit_count(stone) != 1 or (own & stone) != 0:
        scratch.changed[:] = entries
        change_position(scratch.changed, images, own, just_moved, opp, to_move)
        scratch.known[0] = -1
        return sum_of_weights(scratch.changed, weights, weight_of_entry, scratch.current)
    if scratch.known[0] != phase:
        scratch.known[0] = phase
        scratch.known[1] = sum_of_weights(entries, weights, weight_of_entry, scratch.current)
    square = bit_count(stone - 1)
    return scratch.known[1] + change_of_sum(entries, scratch.current, images, square, weights, weight_of_entry)


@cache
def compile_self_play(rules: Rules) -> Callable[..., None]:
    """(first, how, tables, images, played, begin, end, scratch): play the matches from `first + begin` to before
    `first + end` into rows `begin` to `end - 1` of `played`.
    """
    legal_actions, play, is_terminal, return_to_move = rules[1:5]
    first_own, first_opp = rules.initial
    value_at_end = finished_value(rules)
    register_rules()

    @part_of_compiled
    def value_of_move(
        own: Word,
        opp: Word,
        move: Word,
        entries: NDArray[np.int32],
        how: SelfPlay,
        tables: TrainableTables,
        images: SquareImages,
        scratch: Scratch,
    ) -> tuple[float, bool, bool]:
        """The value of a move to the player to move, whether it ends the match, and whether it wins it."""
        to_move, just_moved = play(own, opp, move)
        if legal_actions(to_move, just_moved) == 0 and is_terminal(to_move, just_moved):
            value = -value_at_end(to_move, just_moved, how.finished)
            return value, True, return_to_move(to_move, just_moved) < 0
        value = math.tanh(afterstate_sum(own, opp, just_moved, to_move, entries, tables, images, scratch))
        return value, False, False

    @part_of_compiled
    def play_match(
        match: int,
        how: SelfPlay,
        tables: TrainableTables,
        images: SquareImages,
        scratch: Scratch,
        words: NDArray[np.int64],
    ) -> int:
        """Play a match into `scratch` and `words`; returns the number of plies."""
        own, opp, ply, is_over = np.int64(first_own), np.int64(first_opp), 0, False
        write_entries(own, opp, tables.contributions, tables.offsets, scratch.entries[0])
        write_entries(opp, own, tables.contributions, tables.offsets, scratch.entries[1])
        while not is_over:
            entries = scratch.entries[ply & 1]
            scratch.known[0] = -1
            legal, chosen, wins, best = legal_actions(own, opp), np.int64(0), False, -math.inf
            untried, number = legal, bit_count(legal)
            for _ in range(max(1, number)):
                move = untried & -untried
                untried ^= move
                value, ends, is_win = value_of_move(own, opp, move, entries, how, tables, images, scratch)
                if value > best:
                    best, chosen, is_over, wins = value, move, ends, is_win
            value = best
            rate = how.epsilons[min(ply, len(how.epsilons) - 1)]
            explores = not wins and number > 1
            if explores and uniform_bits(random_bits(how.key, match, ply, EXPLORE)) < rate * (1 << 53):
                move = legal
                for _ in range(below(random_bits(how.key, match, ply, RANDOM_ACTION), number)):
                    move &= move - 1
                move &= -move
                explores = move != chosen
                if explores:
                    chosen = move
                    value, is_over, _ = value_of_move(own, opp, move, entries, how, tables, images, scratch)
            else:
                explores = False
            scratch.values[ply], scratch.best[ply], scratch.explored[ply] = value, best, explores
            to_move, just_moved = play(own, opp, chosen)
            words[ply, 0], words[ply, 1] = just_moved, to_move
            change_position(entries, images, own, just_moved, opp, to_move)
            change_position(scratch.entries[1 - (ply & 1)], images, opp, to_move, own, just_moved)
            own, opp = to_move, just_moved
            ply += 1
        return ply

    @compiled
    def play_matches(
        first: int,
        how: SelfPlay,
        tables: TrainableTables,
        images: SquareImages,
        played: Afterstates,
        begin: int,
        end: int,
        scratch: Scratch,
    ) -> None:
        how, tables, images, played, scratch = borrowed((how, tables, images, played, scratch))
        for row in range(begin, end):
            plies = play_match(first + row, how, tables, images, scratch, played.words[row])
            played.plies[row] = plies - 1
            values, best, explored = scratch.values[:plies], scratch.best, scratch.explored
            write_lambda_returns(values, best, explored, how.trace_decay, how.discount, played.targets[row])

    return play_matches
