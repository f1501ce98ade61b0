"""Compiled learning of tables of values by self-play, one match after the other.

Two players play, each with its own table, which has the value of each board with each player to move. A player moves to
the board with the largest value in its table, and with probability epsilon at random. After each match both tables
learn from all its boards b_0, ..., b_T. The last board is first; each other board learns from the new value of the
board after it:

    backward_value        V(b_T) += alpha * (reward - V(b_T)), and V(b_t) += alpha * (V(b_t+1) - V(b_t)) for t > 0,
                          the reward being 1 for the winner, else 0; of several best moves the lowest is taken.
    temporal_difference   V(b_t) += step_size * greedy_t * (V(b_t+1) - V(b_t)) for t < T (Sutton & Barto,
                          Reinforcement Learning, chapter 1); greedy_t is 0 in the table of the player whose move from
                          b_t was exploratory, else 1; one of several best moves is taken at random.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import compiled, part_of_compiled
from selfplay.compute.random_numbers import Purpose, below, random_bits, uniform_bits
from selfplay.games.position_graph import NO_CHILD, PositionGraph
from selfplay.games.win_draw_loss import NO_MATCHES, WinDrawLoss

EXPLORE, RANDOM_ACTION, TIE_BREAK = int(Purpose.EXPLORE), int(Purpose.RANDOM_ACTION), int(Purpose.TIE_BREAK)
TWO_TO_THE_53 = float(1 << 53)


Tables = NDArray[np.float64]
"""float64[2, 2, N]: `values[p, q, n]` is the value of position n with player q to move, to player p (0 moves first)."""


class UpdateRule(NamedTuple):
    """One of the two rules."""

    name: str
    draw_value: float
    """The initial value of a drawn final board. A won final board has 1, a lost one 0, and every other board 0.5."""
    ties: str
    """Which of several best moves is taken: "lowest" or "random"."""
    step_size_name: str
    trains_against_people: bool
    """Whether a player with such tables by default explores and learns in matches against a person too."""


BACKWARD_VALUE = UpdateRule("backward_value", 0.0, "lowest", "alpha", trains_against_people=True)
TEMPORAL_DIFFERENCE = UpdateRule("temporal_difference", 0.5, "random", "step_size", trains_against_people=False)
UPDATE_RULES = {rule.name: rule for rule in (BACKWARD_VALUE, TEMPORAL_DIFFERENCE)}


def initial_values(graph: PositionGraph, rule: UpdateRule) -> Tables:
    """The tables before the first match."""
    values = np.full((2, 2, len(graph)), 0.5)
    to_mover = (graph.return_to_move + 1) / 2
    for player in range(2):
        for to_move in range(2):
            final = to_mover if player == to_move else 1 - to_mover
            final = np.where(final == 0.5, rule.draw_value, final)
            values[player, to_move] = np.where(graph.terminated, final, 0.5)
    return values


def learn_matches(
    graph: PositionGraph,
    values: Tables,
    rule: UpdateRule,
    *,
    matches: int,
    step_size: float,
    epsilon: float,
    key: int,
    every: int = 500,
    before: WinDrawLoss[int] = NO_MATCHES,
) -> Iterator[WinDrawLoss[int]]:
    """Play matches until there are `matches`, and update `values` (in C order) in place after each.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`. A player without learning
            that takes the same draws makes the same moves.
        every: yields the results so far, counted for the player who moves first, at multiples of this number of
            matches, and at the end.
        before: the results of the matches from which `values` were learned already. The result is the same as that of a
            single call for all matches.
    """
    tables = values.reshape(2, -1)
    most = graph.game.max_game_length
    scratch = np.zeros(most + 1, dtype=np.int64), np.zeros(most, dtype=np.bool_)
    counts = np.array(before, dtype=np.int64)
    edges = graph.children, graph.moves_again, graph.return_to_move
    while (start := int(counts.sum())) < matches:
        span = start, min((start // every + 1) * every, matches)
        _learn(edges, tables, scratch, counts, rule is BACKWARD_VALUE, step_size, epsilon, key, span)
        yield WinDrawLoss(*counts.tolist())


def learn_from_match(
    values: Tables,
    rule: UpdateRule,
    boards: NDArray[np.int64],
    explored: NDArray[np.bool_],
    *,
    player: int,
    to_first: float,
    step_size: float,
) -> None:
    """Update one player's table in place by a match of T plies that was played elsewhere.

    Args:
        values: float64[2, 2, N] in C order.
        boards: int64[T + 1], the boards of the match: `seat * N + position`, with `seat` to move.
        explored: bool[T], the plies at which this player explored.
        player: whose table is updated: 0 moves first.
        to_first: the return of the player who moves first.
    """
    table, plies = values.reshape(2, -1)[player], len(boards) - 1
    if rule is BACKWARD_VALUE:
        reward = 1.0 if to_first == 1 - 2 * player else 0.0
        _learn_backward_value(table, boards, plies, reward, step_size)
    else:
        _learn_temporal_difference(table, boards, explored, plies, step_size)


@compiled
def _random_action(children: NDArray[np.int32], word: int) -> int:
    """The action that a random word picks among the legal ones; `children` int32[A]."""
    count = 0
    for child in children:
        count += child != NO_CHILD
    skip = below(word, count)
    action = -1
    while skip >= 0:
        action += 1
        skip -= children[action] != NO_CHILD
    return action


@part_of_compiled
def _board_after(position: int, player: int, moves_again: NDArray[np.bool_]) -> int:
    """The board `to_move * N + position` that `player` has moved to."""
    to_move = player if moves_again[position] else 1 - player
    return to_move * len(moves_again) + position


@compiled
def _best_action(
    children: NDArray[np.int32],
    moves_again: NDArray[np.bool_],
    table: NDArray[np.float64],
    player: int,
    word: int,
    lowest: bool,
) -> int:
    """An action of the largest value in the table (float64[2 * N]) of the player to move."""
    best, count, first_best = -np.inf, 0, 0
    for action in range(len(children)):
        if children[action] != NO_CHILD:
            value = table[_board_after(children[action], player, moves_again)]
            if value > best:
                best, count, first_best = value, 1, action
            elif value == best:
                count += 1
    if lowest or count == 1:
        return first_best
    skip = below(word, count)
    action = first_best - 1
    while skip >= 0:
        action += 1
        if children[action] != NO_CHILD:
            skip -= table[_board_after(children[action], player, moves_again)] == best
    return action


@compiled
def _play(
    children: NDArray[np.int32],
    moves_again: NDArray[np.bool_],
    tables: NDArray[np.float64],
    boards: NDArray[np.int64],
    explored: NDArray[np.bool_],
    lowest: bool,
    epsilon: float,
    key: int,
    match: int,
) -> int:
    """Play one match; returns its number of plies. Board `player * N + position`: a position with `player` to move."""
    size = len(children)
    position, player, ply = 0, 0, 0
    boards[0] = 0
    while True:
        actions = children[position]
        if actions.max() == NO_CHILD:
            return ply
        explored[ply] = uniform_bits(random_bits(key, match, ply, EXPLORE)) / TWO_TO_THE_53 < epsilon
        if explored[ply]:
            action = _random_action(actions, random_bits(key, match, ply, RANDOM_ACTION))
        else:
            word = random_bits(key, match, ply, TIE_BREAK)
            action = _best_action(actions, moves_again, tables[player], player, word, lowest)
        ply += 1
        boards[ply] = _board_after(actions[action], player, moves_again)
        player, position = divmod(boards[ply], size)


@compiled
def _learn_backward_value(
    table: NDArray[np.float64], boards: NDArray[np.int64], plies: int, reward: float, alpha: float
) -> None:
    target = reward
    for t in range(plies, 0, -1):
        board = boards[t]
        table[board] += alpha * (target - table[board])
        target = table[board]


@compiled
def _learn_temporal_difference(
    table: NDArray[np.float64],
    boards: NDArray[np.int64],
    own_exploration: NDArray[np.bool_],
    plies: int,
    step_size: float,
) -> None:
    for t in range(plies - 1, -1, -1):
        if not own_exploration[t]:
            table[boards[t]] += step_size * (table[boards[t + 1]] - table[boards[t]])


@compiled
def _learn(
    edges: tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float64]],
    tables: NDArray[np.float64],
    scratch: tuple[NDArray[np.int64], NDArray[np.bool_]],
    counts: NDArray[np.int64],
    backward: bool,
    rate: float,
    epsilon: float,
    key: int,
    span: tuple[int, int],
) -> None:
    children, moves_again, return_to_move = edges
    boards, explored = scratch
    size = len(children)
    for match in range(span[0], span[1]):
        plies = _play(children, moves_again, tables, boards, explored, backward, epsilon, key, match)
        last = boards[plies]
        to_first = return_to_move[last % size] * (1 if last < size else -1)
        counts[1 - int(to_first)] += 1
        for player in range(2):
            if backward:
                reward = 1.0 if to_first == 1 - 2 * player else 0.0
                _learn_backward_value(tables[player], boards, plies, reward, rate)
            else:
                own_exploration = explored & (boards[:-1] // size == player)
                _learn_temporal_difference(tables[player], boards, own_exploration, plies, rate)
