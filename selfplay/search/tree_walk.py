"""The walk through the tree of a search, compiled, for any game: see `selfplay.search.algorithms`.

The recursion is written as a loop over a stack, because numba cannot cache recursive functions on disk. Each pass of
the loop either enters a position or takes back the value of a child, and then moves down to the next child or up.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.crew import Crew, is_marked, is_shared, put_mark
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.move_ordering import (
    MIN_VALUE_DEPTH,
    compile_order_by_replies,
    compile_order_by_value,
    list_unordered,
)
from selfplay.search.stack import Frame, Stack, write_line
from selfplay.search.transposition_table import Table, look_up, store
from selfplay.search.windows import NEGASCOUT, open_window, reopens_window

SHARED_FROM = 4
"""Positions with at least this many remaining plies are marked where several threads search."""
POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""
STOPPED = -1
"""What a walk returns instead of a number of positions if it was stopped."""

SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations that differ by less, relative to their size, are not told
apart anyway."""


class Method(NamedTuple):
    """How a search walks through the tree."""

    algorithm: int
    min_scout_depth: int
    """The smallest number of remaining plies at which NegaScout uses null windows."""
    ordered: bool
    """Whether promising moves are tried first."""
    reply_value: float
    """`Evaluation.reply_value`"""


def sooner_of(rules: Rules) -> float:
    """By how much a win is worth more for each ply left to search. Where points are counted, speed does not matter."""
    return SOONER if rules.margin is None else 0.0


@cache
def compile_action_of(pass_action: int | None) -> Callable[[int], int]:
    """Compile the function from a move to its action."""
    passing = -1 if pass_action is None else pass_action

    @part_of_compiled
    def action_of(move: int) -> int:
        return passing if move == 0 else bit_count(move - 1)

    return action_of


@part_of_compiled
def no_probe(
    frame: Frame,
    left: int,
    method: Method,
    parameters: EvaluationParameters,
    table: Table,
    stop: NDArray[np.int64],
    probing: Any,
) -> tuple[bool, int]:
    """The probe of an exact search: it never cuts."""
    return False, 0


@cache
def compile_walk(
    rules: Rules,
    unfinished_value: CompiledValue,
    pass_action: int | None,
    probe: Callable[..., tuple[bool, int]] = no_probe,
) -> Callable[..., int]:
    """Compile the walk through the trees of a game.

    The compiled function is `walk(depth, keeps_ties, method, parameters, table, stop, stack, crew, probing)`. It
    searches the position of the first frame of `stack` in the window of this frame, and returns the number of positions
    visited, or STOPPED, also if another thread of the crew has finished. `keeps_ties`: whether the lowest of several
    best actions must be found; otherwise only the value matters, and the table may answer. `parameters` are from
    `Evaluation.parameters`.

    `probe(frame, left, method, parameters, table, stop, probing)` is asked before the moves of a position other than
    the first are tried. It returns whether it cuts them off, with the value of the position in `frame.best`, and the
    number of positions it visited, or STOPPED.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end, sooner = finished_value(rules), sooner_of(rules)
    order_by_replies, order_by_value = compile_order_by_replies(rules), compile_order_by_value(rules, unfinished_value)
    action_of = compile_action_of(pass_action)
    register_rules()

    @part_of_compiled
    def list_moves(
        frame: Frame,
        bits: int,
        first_move: int,
        left: int,
        context: tuple[float, EvaluationParameters],
        moves: NDArray[np.int64],
        ranks: NDArray[np.float64],
    ) -> int:
        """Write the moves of `bits` in the order for `left` plies left to search; returns their number."""
        if left == 1:
            return list_unordered(bits, moves)
        if left < MIN_VALUE_DEPTH:
            return order_by_replies(frame.own, frame.opp, bits, first_move, 0, moves, ranks)
        return order_by_value(frame.own, frame.opp, bits, first_move, context, moves, ranks)

    @part_of_compiled
    def precedes_best(frame: Frame, move: int) -> bool:
        """Whether a move would replace the best one if both had the same value: it has the lower action."""
        return frame.num_tried > 0 and action_of(move) < action_of(frame.best_move)

    @part_of_compiled
    def take_back(frame: Frame, child: Frame, move: int, keeps_ties: bool) -> bool:
        """Take into account the value of the child that `move` leads to; returns whether it is now the best move."""
        score = -child.best
        is_best = score > frame.best or (keeps_ties and score == frame.best and precedes_best(frame, move))
        if is_best:
            frame.best, frame.best_move = score, move
        frame.num_tried += 1
        frame.is_open |= child.is_open
        return is_best

    @part_of_compiled
    def descend(frame: Frame, child: Frame, move: int, keeps_ties: bool, algorithm: int, may_scout: bool) -> None:
        """Prepare the frame of the child that `move` leads to."""
        child.own, child.opp = play(frame.own, frame.opp, move)
        frame.low = max(frame.alpha, frame.best)
        if keeps_ties and precedes_best(frame, move):
            frame.low = np.nextafter(frame.low, -np.inf)  # an equal value matters too
        frame.is_scouted = may_scout and frame.num_tried > 0
        open_window(algorithm, frame, child)

    @part_of_compiled
    def put_off_marked(frame: Frame, moves: NDArray[np.int64], crew: Crew) -> None:
        """Make the first untried move that leads to no marked position the next one."""
        for place in range(frame.num_tried, frame.num_moves):
            move = moves[place]
            own, opp = play(frame.own, frame.opp, move)
            if not is_marked(own, opp, crew):
                for passed in range(place, frame.num_tried, -1):
                    moves[passed] = moves[passed - 1]
                moves[frame.num_tried] = move
                return

    @part_of_compiled
    def walk(
        depth: int,
        keeps_ties: bool,
        method: Method,
        parameters: EvaluationParameters,
        table: Table,
        stop: NDArray[np.int64],
        stack: Stack,
        crew: Crew,
        probing: Any,
    ) -> int:
        algorithm, min_scout_depth, ordered, reply_value = method
        frames, moves, ranks, lines = stack
        finished, unfinished = parameters
        context = (reply_value, parameters)
        visited, probed, ply, is_new, marks = 0, 0, 0, True, is_shared(crew)
        while ply >= 0:
            frame, left, keeps = frames[ply], depth - ply, keeps_ties and ply == 0
            if is_new:
                visited += 1
                if visited % POLL_INTERVAL == 0 and (stop[0] != 0 or crew.finished[0] != 0):
                    return STOPPED
                lines[ply, ply] = -1
                frame.num_moves, frame.num_tried, frame.is_open, frame.mark = 0, 0, 0, -1
                bits = legal_actions(frame.own, frame.opp)
                if bits == 0 and is_terminal(frame.own, frame.opp):
                    frame.best = value_at_end(frame.own, frame.opp, finished) * (1.0 + left * sooner)
                elif left == 0:
                    frame.best, frame.is_open = unfinished_value(frame.own, frame.opp, unfinished), 1
                else:
                    is_answered, first_move = look_up(table, frame, left, keeps)
                    if not is_answered and ply > 0:
                        is_answered, count = probe(frame, left, method, parameters, table, stop, probing)
                        if count == STOPPED:
                            return STOPPED
                        probed += count
                        if count > 0 and first_move == 0 and not is_answered:
                            _, first_move = look_up(table, frame, left, True)
                    if not is_answered:
                        frame.best = -np.inf
                        if marks and left >= SHARED_FROM:
                            frame.mark = put_mark(frame.own, frame.opp, crew)
                        frame.num_moves = list_moves(
                            frame, bits, first_move, left if ordered else 1, context, moves[ply], ranks
                        )
            elif reopens_window(frame, frames[ply + 1]):
                ply, is_new = ply + 1, True
                continue
            else:
                move = moves[ply, frame.num_tried]
                if take_back(frame, frames[ply + 1], move, keeps):
                    write_line(lines, ply, action_of(move))
            is_new = frame.num_tried < frame.num_moves and frame.best < frame.beta
            if is_new:
                if marks and left > SHARED_FROM and frame.num_tried > 0:
                    put_off_marked(frame, moves[ply], crew)
                may_scout = algorithm == NEGASCOUT and left >= min_scout_depth
                descend(frame, frames[ply + 1], moves[ply, frame.num_tried], keeps, algorithm, may_scout)
            elif frame.num_moves > 0:
                store(table, frame, left)
                if frame.mark >= 0:
                    crew.marks[frame.mark] = 0
            ply += 1 if is_new else -1
        crew.finished[0] = marks
        return visited + probed

    return walk
