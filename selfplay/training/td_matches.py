"""Matches of tables of patterns against themselves, played in compiled code, and the targets of their afterstates.

Both players take the action with the afterstate of the highest value. With the probability of the ply they explore:
they take any action. A player who can win at once does not explore.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import borrowed, compiled, part_of_compiled
from selfplay.compute.compiled_words import lowest, part
from selfplay.compute.elementary import tangent
from selfplay.compute.random_numbers import Purpose, below, random_bits, uniform_bits
from selfplay.compute.words import parts_of
from selfplay.games.kernels import random_action
from selfplay.games.pattern_sums import SquareImages, change_of_sum, change_position, sum_of_weights
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import finished_value

EXPLORE, OPENING = int(Purpose.EXPLORE), int(Purpose.OPENING)


class Afterstates(NamedTuple):
    """The afterstates of R matches of at most M plies each. Values are learned for all but the last one of a match."""

    positions: NDArray[np.int64]
    """int64[R, M, 2]: packed (`own`, the stones of the player to move, and `opp`)."""
    values: NDArray[np.float64]
    """float64[R, M]: the value of each to the player who has just moved; of the last one the outcome of the match."""
    best: NDArray[np.float64]
    """float64[R, M]: the value of the best action of that player."""
    explored: NDArray[np.bool_]
    """bool[R, M]: whether the player took another action."""
    targets: NDArray[np.float64]
    """float64[R, M]"""
    first: NDArray[np.int64]
    """int64[R]: the number of the first afterstate that a value is learned for, the last one of a random opening."""
    plies: NDArray[np.int64]
    """int64[R]: the number of afterstates but the last one of the match."""
    exact: NDArray[np.int64]
    """int64[R]: the number of the first afterstate with an exact value; all later ones have exact values too."""


class MatchParameters(NamedTuple):
    """How matches are played."""

    key: int
    """The stream of random numbers."""
    epsilons: NDArray[np.float64]
    """The exploration rate of each ply; the last one is used for all later plies."""
    finished: NDArray[np.float64]
    """As in `selfplay.search.evaluation.EvaluationParameters`."""
    opening_plies: int
    """The largest number of random plies at the start, see `selfplay.players.openings`."""


def no_afterstates(number: int, most_plies: int) -> Afterstates:
    """Room for this number of matches."""
    values, best, targets = np.empty((3, number, most_plies))
    return Afterstates(
        np.empty((number, most_plies, 2), dtype=np.int64),
        values,
        best,
        np.empty((number, most_plies), dtype=np.bool_),
        targets,
        *np.empty((3, number), dtype=np.int64),
    )


@compiled
def write_lambda_returns(played: Afterstates, trace_decay: float, discount: float, begin: int, end: int) -> None:
    """Write the targets of the matches in rows `begin` to `end - 1`.

    The lambda-return (Sutton & Barto, 2018, section 12.1), G(t) = d ((1 - lambda) V(t + 1) + lambda G(t + 1)), negated
    at each ply, because the players take turns; d is the discount. If the player explored at t + 1, the return is cut:
    G(t) is then the discounted and negated value of the best action there, as in Watkins's Q(lambda) (section 12.10).
    If the value of an afterstate is exact, it is the target.
    """
    for row in range(begin, end):
        values, best, explored = played.values[row], played.best[row], played.explored[row]
        following = values[played.plies[row]]
        for ply in range(played.plies[row] - 1, -1, -1):
            following = (1.0 - trace_decay) * values[ply + 1] + trace_decay * following
            if explored[ply + 1]:
                following = best[ply + 1]
            following *= -discount
            if ply >= played.exact[row]:
                following = values[ply]
            played.targets[row, ply] = following


class Scratch(NamedTuple):
    """The state of a match that is being played."""

    entries: NDArray[np.int32]
    """int32[2, I]: the entries of the position, as if player 0 had just moved, and as if player 1 had."""
    changed: NDArray[np.int32]
    """int32[I]: the entries of an afterstate."""
    current: NDArray[np.float32]
    """float32[I]: the weights of the entries of the position in phase `known[0]`."""
    known: NDArray[np.float64]
    """float64[2]: that phase, or -1; and the sum of these weights."""


def new_scratch(images: int) -> Scratch:
    """Scratch memory for one thread."""
    return Scratch(
        np.empty((2, images), dtype=np.int32),
        np.empty(images, dtype=np.int32),
        np.empty(images, dtype=np.float32),
        np.empty(2),
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
    _, _, weight_of_entry, all_weights, squares, parities, _ = tables
    phase = phase_of(just_moved, to_move, len(all_weights), squares, parities)
    weights, stone = all_weights[phase], just_moved ^ own
    if to_move != opp or bit_count(stone) != 1 or (own & stone) != 0:
        for image in range(len(entries)):
            scratch.changed[image] = entries[image]
        change_position(scratch.changed, images, own, just_moved, opp, to_move)
        scratch.known[0] = -1
        return sum_of_weights(scratch.changed, weights, weight_of_entry, scratch.current)
    if scratch.known[0] != phase:
        scratch.known[0] = phase
        scratch.known[1] = sum_of_weights(entries, weights, weight_of_entry, scratch.current)
    square = bit_count(stone - 1)
    return scratch.known[1] + change_of_sum(entries, scratch.current, images, square, weights, weight_of_entry)


@cache
def compile_self_play(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    """(first, how, tables, images, played, begin, end, scratch): play the matches from `first + begin` to before
    `first + end` into rows `begin` to `end - 1` of `played`.
    """
    legal_actions, play, is_terminal, return_to_move = rules[1:5]
    first_own, first_opp = (parts_of(word, 1)[0] for word in rules.initial)
    position, value_at_end = rules.position, finished_value(rules)
    passing = -1 if pass_action is None else pass_action

    @part_of_compiled
    def value_of_action(
        p: Position,
        action: int,
        entries: NDArray[np.int32],
        how: MatchParameters,
        tables: TrainableTables,
        images: SquareImages,
        scratch: Scratch,
    ) -> tuple[float, bool, bool]:
        """The value of an action to the player to move, whether it ends the match, and whether it wins it."""
        after = play(p, action)
        if legal_actions(after) == 0 and is_terminal(after):
            return -value_at_end(after, how.finished), True, part(return_to_move(after), 0) < 0
        numbers = part(p.own, 0), part(p.opp, 0), part(after.opp, 0), part(after.own, 0)
        total = afterstate_sum(*numbers, entries, tables, images, scratch)
        value = tangent(total, tables.is_portable)
        return value, False, False

    @part_of_compiled
    def play_match(
        match: int,
        how: MatchParameters,
        tables: TrainableTables,
        images: SquareImages,
        scratch: Scratch,
        played: Afterstates,
        row: int,
    ) -> None:
        """Play a match into a row of `played`."""
        p, ply, is_over = position(first_own, first_opp), 0, False
        opening = below(random_bits(how.key, match, 0, OPENING), how.opening_plies + 1)
        write_entries(first_own, first_opp, tables.contributions, tables.offsets, scratch.entries[0])
        write_entries(first_opp, first_own, tables.contributions, tables.offsets, scratch.entries[1])
        while not is_over:
            entries = scratch.entries[ply & 1]
            scratch.known[0] = -1
            legal, wins, best = legal_actions(p), False, -math.inf
            untried, chosen, number = legal, passing, bit_count(legal)
            for _ in range(max(1, number)):
                action = passing if number == 0 else lowest(untried)
                untried &= untried - 1
                value, ends, is_win = value_of_action(p, action, entries, how, tables, images, scratch)
                if value > best:
                    best, chosen, is_over, wins = value, action, ends, is_win
            value = best
            rate = how.epsilons[min(ply, len(how.epsilons) - 1)]
            is_opening, explores = ply < opening, not wins and number > 1
            if explores:
                explores = uniform_bits(random_bits(how.key, match, ply, EXPLORE)) < rate * (1 << 53)
            if number > 1 and (explores or is_opening):
                action = random_action(legal, how.key, match, ply)
                explores = action != chosen
                if explores:
                    chosen = action
                    value, is_over, _ = value_of_action(p, action, entries, how, tables, images, scratch)
            else:
                explores = False
            played.values[row, ply], played.best[row, ply], played.explored[row, ply] = value, best, explores
            after = play(p, chosen)
            one, new_one, other, new_other = part(p.own, 0), part(after.opp, 0), part(p.opp, 0), part(after.own, 0)
            played.positions[row, ply, 0], played.positions[row, ply, 1] = new_other, new_one
            change_position(entries, images, one, new_one, other, new_other)
            change_position(scratch.entries[1 - (ply & 1)], images, other, new_other, one, new_one)
            p, ply = after, ply + 1
        played.first[row] = max(0, opening - 1)
        played.plies[row] = played.exact[row] = ply - 1

    @compiled
    def play_matches(
        first: int,
        how: MatchParameters,
        tables: TrainableTables,
        images: SquareImages,
        played: Afterstates,
        begin: int,
        end: int,
        scratch: Scratch,
    ) -> None:
        how, tables, images, played, scratch = borrowed((how, tables, images, played, scratch))
        for row in range(begin, end):
            play_match(first + row, how, tables, images, scratch, played, row)

    return play_matches
