"""Minimax, alpha-beta and NegaScout, compiled, for any game.

All three are negamax searches: the value of a position to the player to move is the largest of the negated values of
the positions that follow; `depth` plies ahead an evaluation is used instead. They differ only in the window
`(alpha, beta)` of values that matter, which a position passes on to the positions that follow it:

    minimax     (-inf, inf): every value matters
    alpha-beta  (-beta, -low), where low is the best value found so far (Knuth & Moore, "An analysis of alpha-beta
                pruning", 1975)
    NegaScout   the same for the first move. For the others first a null window just above low, which only tests
                whether the move is better; if it is, the move is searched again with the full window (Reinefeld, "An
                improvement to the Scout tree-search algorithm", 1983)

Values are fail-soft: a value below the window is an upper bound of the true value, one above it a lower bound.

Where a game does not count points, a win is worth more the sooner it comes, and a loss less: the value of a finished
match is multiplied by 1 + SOONER for each ply that was left to search. The value of a position then depends on the
depth still to be searched only, which the table compares, and the factor is too small to matter otherwise.

The recursion is written as a loop over a stack, because numba cannot cache recursive functions on disk. Each pass of
the loop either enters a position or takes back the value of a child, and then moves down to the next child or up.
"""

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.move_ordering import compile_order
from selfplay.search.stack_and_table import Frame, Stack, Table, look_up, store, write_line
from selfplay.search.threads import Threads, is_marked, is_shared, put_mark


class Algorithm(IntEnum):
    """The three searches. They find the same values and actions."""

    MINIMAX = 0
    ALPHA_BETA = 1
    NEGASCOUT = 2


MINIMAX, NEGASCOUT = int(Algorithm.MINIMAX), int(Algorithm.NEGASCOUT)


@part_of_compiled
def open_window(algorithm: int, frame: Frame, child: Frame) -> None:
    """Set the window of the next child to be searched, from `frame.low` and `frame.is_scouted`."""
    if algorithm == MINIMAX:
        child.alpha, child.beta = -np.inf, np.inf
    elif frame.is_scouted != 0:
        child.alpha, child.beta = -np.nextafter(frame.low, np.inf), -frame.low
    else:
        child.alpha, child.beta = -frame.beta, -frame.low


@part_of_compiled
def reopens_window(frame: Frame, child: Frame) -> bool:
    """Whether the child must be searched again: the null window has shown only that it is better than `low`.

    If so, its new window begins just below what the first search has proved.
    """
    score = -child.best
    if frame.is_scouted == 0 or not frame.low < score < frame.beta:
        return False
    frame.is_scouted = 0
    child.alpha, child.beta = -frame.beta, -np.nextafter(score, -np.inf)
    return True


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
    clears_table: bool
    """Whether each position of a batch is searched with an empty table: the cuts of ProbCut that the searches of others
    have left in the table would change its result."""


def sooner_of(rules: Rules) -> float:
    """By how much a win is worth more for each ply left to search. Where points are counted, speed does not matter."""
    return SOONER if rules.margin is None else 0.0


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

    The compiled function is `walk(depth, keeps_ties, method, parameters, table, stop, stack, threads, probing)`. It
    searches the position of the first frame of `stack` in the window of this frame, and returns the number of positions
    visited, or STOPPED, also if another thread has finished. `keeps_ties`: whether the lowest of several
    best actions must be found; otherwise only the value matters, and the table may answer. `parameters` are from
    `Evaluation.parameters`.

    `probe(frame, left, method, parameters, table, stop, probing)` is asked before the moves of a position other than
    the first are tried. It returns whether it cuts them off, with the value of the position in `frame.best`, and the
    number of positions it visited, or STOPPED.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end, sooner = finished_value(rules), sooner_of(rules)
    list_moves, passing = compile_order(rules, unfinished_value), -1 if pass_action is None else pass_action
    register_rules()

    @part_of_compiled
    def action_of(move: int) -> int:
        return passing if move == 0 else bit_count(move - 1)

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
    def put_off_marked(frame: Frame, moves: NDArray[np.int64], threads: Threads) -> None:
        """Make the first untried move that leads to no marked position the next one."""
        for place in range(frame.num_tried, frame.num_moves):
            move = moves[place]
            own, opp = play(frame.own, frame.opp, move)
            if not is_marked(own, opp, threads):
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
        threads: Threads,
        probing: Any,
    ) -> int:
        algorithm, min_scout_depth, ordered, reply_value, _ = method
        frames, moves, ranks, lines = stack
        finished, unfinished = parameters
        context = (reply_value, parameters)
        visited, probed, ply, is_new, marks = 0, 0, 0, True, is_shared(threads)
        while ply >= 0:
            frame, left, keeps = frames[ply], depth - ply, keeps_ties and ply == 0
            if is_new:
                visited += 1
                if visited % POLL_INTERVAL == 0 and (stop[0] != 0 or threads.finished[0] != 0):
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
                            frame.mark = put_mark(frame.own, frame.opp, threads)
                        ahead = left if ordered else 1
                        frame.num_moves = list_moves(
                            frame.own, frame.opp, bits, first_move, ahead, context, moves[ply], ranks
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
                    put_off_marked(frame, moves[ply], threads)
                may_scout = algorithm == NEGASCOUT and left >= min_scout_depth
                descend(frame, frames[ply + 1], moves[ply, frame.num_tried], keeps, algorithm, may_scout)
            elif frame.num_moves > 0:
                store(table, frame, left)
                if frame.mark >= 0:
                    threads.marks[frame.mark] = 0
            ply += 1 if is_new else -1
        threads.finished[0] = marks
        return visited + probed

    return walk
