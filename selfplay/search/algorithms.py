"""Minimax, alpha-beta and NegaScout, compiled, for any game.

All three are negamax searches: the value of a position to the player to move is the largest of the negated values of
the positions that follow; `depth` plies ahead an evaluation is used instead. They differ only in the window of
values that matter: see `selfplay.search.windows`.

Where a game does not count points, a win is worth more the sooner it comes, and a loss less: the value of a finished
match is multiplied by 1 + SOONER for each ply that was left to search. The value of a position then depends on the
depth still to be searched only, which the table compares, and the factor is too small to matter otherwise. Results do
not contain it.

Values are fail-soft: a value below the window is an upper bound of the true value, one above it a lower bound.
The recursion is written as a loop over a stack, because numba cannot cache recursive functions on disk. Each pass of
the loop either enters a position or takes back the value of a child, and then moves down to the next child or up.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.stack import Frame, Stack, begin, write_line
from selfplay.search.transposition_table import Table, look_up, store
from selfplay.search.windows import NEGASCOUT, open_window, reopens_window

POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""

SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations that differ by less, relative to their size, are not told
apart anyway."""

MIN_SCOUT_DEPTH, MIN_SCOUT_DEPTH_PLAIN = 4, 5
"""The smallest numbers of remaining plies at which NegaScout uses null windows: with ordering and a table, and without
one of them. Closer to the leaves, null windows save fewer positions than the repeated searches add."""


class BatchResult(NamedTuple):
    """The results of a search of B positions to depth D."""

    values: NDArray[np.float64]
    """float64[B]: to the player to move."""
    actions: NDArray[np.int64]
    """int64[B]: the lowest of the best actions; -1 where the match is over or the depth is 0. In games that do not
    count points, the soonest win is best, and the latest loss."""
    visited: NDArray[np.int64]
    """int64[B]: positions visited, including the searched one; a position visited twice counts twice."""
    variations: NDArray[np.int64]
    """int64[B, D]: the actions of the principal variation; -1 after its end."""
    final: NDArray[np.bool_]
    """bool[B]: whether a deeper search would find the same: all lines that matter reach the end of the match, or, in
    games that do not count points, a win or a loss is forced before the last ply."""


@part_of_compiled
def length_of(line: NDArray[np.int64]) -> int:
    """The number of actions before the first -1."""
    length = 0
    while line[length] != -1:
        length += 1
    return length


@part_of_compiled
def write_result(
    found: BatchResult, row: int, value: float, is_final: bool, line: NDArray[np.int64], visited: int
) -> None:
    """Write the result for one position; `line` holds the actions of its principal variation."""
    values, actions, counts, variations, final = found
    values[row] = value + 0.0  # no -0.0
    actions[row], counts[row], final[row] = line[0], visited, is_final
    end = 0
    for ply in range(variations.shape[1]):
        variations[row, ply] = line[end]
        end += line[end] != -1


@cache
def compile_search(rules: Rules, unfinished_value: CompiledValue, pass_action: int | None) -> Callable[..., bool]:
    """Compile the searches of a game with these rules; they value unfinished positions by `unfinished_value`.

    The compiled function is
    `search(own, opp, depth, algorithm, min_scout_depth, ordered, parameters, table, stop, stack, found)`, with
    `min_scout_depth` the smallest number of remaining plies at which NegaScout uses null windows,
    `parameters` from `Evaluation.parameters`, a `StopFlag` that the search polls but does not set, `stack` from
    `make_stack` and a table that minimax does not use. It fills `found`; it returns False if it was stopped.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end = finished_value(rules)
    register_rules()
    passing = -1 if pass_action is None else pass_action
    # Where points are counted, matches are won by points, not by speed.
    sooner = SOONER if rules.margin is None else 0.0

    @part_of_compiled
    def action_of(move: int) -> int:
        return passing if move == 0 else bit_count(move - 1)

    @part_of_compiled
    def value_after(own: int, opp: int, line: NDArray[np.int64], finished: NDArray[np.float64]) -> float:
        """The value to the player to move of the end of the match that the actions of `line` lead to."""
        length = length_of(line)
        for ply in range(length):
            own, opp = play(own, opp, 0 if line[ply] == passing else 1 << line[ply])
        value: float = value_at_end(own, opp, finished)
        return value if length % 2 == 0 else -value

    @part_of_compiled
    def rank_of(own: int, opp: int, move: int, first_move: int) -> int:
        """The number of replies to the move, by which moves are ordered; -1 for the `first_move`."""
        return -1 if move == first_move else bit_count(legal_actions(*play(own, opp, move)))

    @part_of_compiled
    def list_moves(
        frame: Frame, bits: int, first_move: int, ordered: bool, moves: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> int:
        """Write the moves of `bits` in the order in which they are to be tried; returns their number, with a pass."""
        count = 0
        while bits != 0:
            move = bits & -bits
            bits ^= move
            rank = rank_of(frame.own, frame.opp, move, first_move) if ordered else 0
            place = count
            while place > 0 and ranks[place - 1] > rank:
                moves[place], ranks[place] = moves[place - 1], ranks[place - 1]
                place -= 1
            moves[place], ranks[place] = move, rank
            count += 1
        if count == 0:
            moves[0] = 0
        return max(count, 1)

    @part_of_compiled
    def expand(
        frame: Frame,
        bits: int,
        left: int,
        is_root: bool,
        ordered: bool,
        table: Table,
        moves: NDArray[np.int64],
        ranks: NDArray[np.int64],
    ) -> None:
        """List the moves of a position, `bits`, unless the table knows its value. `left`: plies left to search."""
        is_answered, first_move = look_up(table, frame, left, is_root)
        if not is_answered:
            frame.best = -np.inf
            frame.num_moves = list_moves(frame, bits, first_move, ordered and left > 1, moves, ranks)

    @part_of_compiled
    def precedes_best(frame: Frame, move: int) -> bool:
        """Whether a move would replace the best one if both had the same value: it has the lower action."""
        return frame.num_tried > 0 and action_of(move) < action_of(frame.best_move)

    @part_of_compiled
    def take_back(frame: Frame, child: Frame, move: int, is_root: bool) -> bool:
        """Take into account the value of the child that `move` leads to; returns whether it is now the best move."""
        score = -child.best
        is_best = score > frame.best or (is_root and score == frame.best and precedes_best(frame, move))
        if is_best:
            frame.best, frame.best_move = score, move
        frame.num_tried += 1
        frame.is_open |= child.is_open
        return is_best

    @part_of_compiled
    def descend(frame: Frame, child: Frame, move: int, is_root: bool, algorithm: int, may_scout: bool) -> None:
        """Prepare the frame of the child that `move` leads to."""
        child.own, child.opp = play(frame.own, frame.opp, move)
        frame.low = max(frame.alpha, frame.best)
        if is_root and precedes_best(frame, move):
            frame.low = np.nextafter(frame.low, -np.inf)  # an equal value matters too
        frame.is_scouted = may_scout and frame.num_tried > 0
        open_window(algorithm, frame, child)

    @compiled
    def search(
        own: NDArray[np.int64],
        opp: NDArray[np.int64],
        depth: int,
        algorithm: int,
        min_scout_depth: int,
        ordered: bool,
        parameters: EvaluationParameters,
        table: Table,
        stop: NDArray[np.int64],
        stack: Stack,
        found: BatchResult,
    ) -> bool:
        frames, moves, ranks, lines = stack
        finished, unfinished = parameters
        visited = 0
        for row in range(len(own)):
            begin(frames[0], own[row], opp[row])
            visited_before, ply, is_new = visited, 0, True
            while ply >= 0:
                frame, left = frames[ply], depth - ply
                if is_new:
                    visited += 1
                    if visited % POLL_INTERVAL == 0 and stop[0] != 0:
                        return False
                    lines[ply, ply] = -1
                    frame.num_moves, frame.num_tried, frame.is_open = 0, 0, 0
                    bits = legal_actions(frame.own, frame.opp)
                    if bits == 0 and is_terminal(frame.own, frame.opp):
                        frame.best = value_at_end(frame.own, frame.opp, finished) * (1.0 + left * sooner)
                    elif left == 0:
                        frame.best, frame.is_open = unfinished_value(frame.own, frame.opp, unfinished), 1
                    else:
                        expand(frame, bits, left, ply == 0, ordered, table, moves[ply], ranks)
                elif reopens_window(frame, frames[ply + 1]):
                    ply, is_new = ply + 1, True
                    continue
                else:
                    move = moves[ply, frame.num_tried]
                    if take_back(frame, frames[ply + 1], move, ply == 0):
                        write_line(lines, ply, action_of(move))
                is_new = frame.num_tried < frame.num_moves and frame.best < frame.beta
                if is_new:
                    may_scout = algorithm == NEGASCOUT and left >= min_scout_depth
                    descend(frame, frames[ply + 1], moves[ply, frame.num_tried], ply == 0, algorithm, may_scout)
                elif frame.num_moves > 0:
                    store(table, frame, left)
                ply += 1 if is_new else -1
            value, is_final = frames[0].best, frames[0].is_open == 0
            if sooner > 0 and length_of(lines[0]) < depth:
                value = value_after(own[row], opp[row], lines[0], finished)
                is_final |= value != 0
            write_result(found, row, value, is_final, lines[0], visited - visited_before)
        return True

    return search
