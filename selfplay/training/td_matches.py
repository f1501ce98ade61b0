"""Matches of tables of patterns against themselves, played in compiled code, and the targets of their afterstates.

Both players take the action with the afterstate of the highest value. With the probability of the ply they explore:
they take any action. A player who can win at once does not explore.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import Words, borrowed, by_reference, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, lowest, part, word_rows
from selfplay.compute.elementary import tangent
from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import Purpose, below, random_bits, uniform_bits
from selfplay.games.kernels import random_action
from selfplay.games.pattern_planes import Seen, swapped
from selfplay.games.pattern_sums import SquareImages, change_of_sum, change_position, sum_of_weights
from selfplay.games.patterns import TrainableTables, row_of_weights, write_entries
from selfplay.games.rules import Position, Rules, over_of
from selfplay.search.evaluation import finished_value
from selfplay.search.evaluation import moves_again as again_in

EXPLORE, OPENING = int(Purpose.EXPLORE), int(Purpose.OPENING)


class Afterstates(NamedTuple):
    """The afterstates of R matches of at most M plies each. Values are learned for all but the last one of a match."""

    positions: NDArray[np.int64]
    """int64[R, M, 4]: what tables see of each, as in `Seen`."""
    values: NDArray[np.float64]
    """float64[R, M]: the value of each to the player who is not to move; of the last one the outcome of the match."""
    best: NDArray[np.float64]
    """float64[R, M]: the value of the best action to the player who moved."""
    explored: NDArray[np.bool_]
    """bool[R, M]: whether the player took another action."""
    again: NDArray[np.bool_]
    """bool[R, M]: whether this player also makes the next move."""
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
    """The largest number of random plies at the start, see `selfplay.players.exploring`."""


def no_afterstates(number: int, most_plies: int) -> Afterstates:
    """Room for this number of matches."""
    values, best, targets = np.empty((3, number, most_plies))
    return Afterstates(
        np.empty((number, most_plies, len(Seen._fields)), dtype=np.int64),
        values,
        best,
        np.empty((number, most_plies), dtype=np.bool_),
        np.zeros((number, most_plies), dtype=np.bool_),
        targets,
        *np.empty((3, number), dtype=np.int64),
    )


@compiled
def write_lambda_returns(played: Afterstates, trace_decay: float, discount: float, begin: int, end: int) -> None:
    """Write the targets of the matches in rows `begin` to `end - 1`.

    The lambda-return (Sutton & Barto, 2018, section 12.1), G(t) = d ((1 - lambda) V(t + 1) + lambda G(t + 1)), negated
    at each ply unless the same player moves again; d is the discount. If the player explored at t + 1, the return is
    cut: G(t) is then the discounted and negated value of the best action there, as in Watkins's Q(lambda) (section
    12.10). If the value of an afterstate is exact, it is the target.
    """
    for row in range(begin, end):
        values, best, explored, again = played.values[row], played.best[row], played.explored[row], played.again[row]
        following = values[played.plies[row]]
        for ply in range(played.plies[row] - 1, -1, -1):
            following = (1.0 - trace_decay) * values[ply + 1] + trace_decay * following
            if explored[ply + 1]:
                following = best[ply + 1]
            following *= discount if again[ply + 1] and not explored[ply + 1] else -discount
            if ply >= played.exact[row]:
                following = values[ply]
            played.targets[row, ply] = following


class MatchScratch(NamedTuple):
    """The state of a match that is being played."""

    entries: NDArray[np.int32]
    """int32[2, I]: the entries of the position, as if player 0 had just moved, and as if player 1 had."""
    seen: NDArray[np.int64]
    """int64[2, 4]: what tables see of it then, as in `Seen`, but for the last number."""
    changed: NDArray[np.int32]
    """int32[I]: the entries of an afterstate."""
    current: NDArray[np.float32]
    """float32[I]: the weights of the entries of the position in the case `known[0]`."""
    known: NDArray[np.float64]
    """float64[2]: twice the row of these weights plus the row of these entries, or -1; and their sum."""


def new_scratch(images: int) -> MatchScratch:
    """Scratch memory for one thread."""
    return MatchScratch(
        np.empty((2, images), dtype=np.int32),
        np.empty((2, len(Seen._fields)), dtype=np.int64),
        np.empty(images, dtype=np.int32),
        np.empty(images, dtype=np.float32),
        np.empty(2),
    )


@part_of_compiled
def seen_from(written: NDArray[np.int64]) -> Seen:
    """What `write_seen` has written."""
    return Seen(written[0], written[1], written[2], written[3])


@part_of_compiled
def write_seen(seen: Seen, written: NDArray[np.int64]) -> None:
    """Write what is seen into int64[4]."""
    written[0], written[1], written[2], written[3] = seen.to_move, seen.just_moved, seen.marks, seen.set_number


@part_of_compiled
def afterstate_sum(new: Seen, side: int, tables: TrainableTables, images: SquareImages, scratch: MatchScratch) -> Bits:
    """The sum of the weights of an unfinished afterstate, in which player `side` is not to move. The value to this
    player is the tanh of it."""
    row = row_of_weights(new, tables.phases, tables.squares, tables.parities)
    old, entries, weights = seen_from(scratch.seen[side]), scratch.entries[side], tables.weights[row]
    stone = new.just_moved ^ old.just_moved
    is_one_more = bit_count(stone) == 1 and (old.just_moved & stone) == 0
    if new.to_move != old.to_move or new.marks != old.marks or not is_one_more:
        for image in range(len(entries)):
            scratch.changed[image] = entries[image]
        change_position(scratch.changed, images, old, new)
        scratch.known[0] = -1
        return sum_of_weights(scratch.changed, weights, tables.weight_of_entry, scratch.current)
    if scratch.known[0] != 2 * row + side:
        scratch.known[0] = 2 * row + side
        scratch.known[1] = sum_of_weights(entries, weights, tables.weight_of_entry, scratch.current)
    square = bit_count(stone - 1)
    return scratch.known[1] + change_of_sum(entries, scratch.current, images, square, weights, tables.weight_of_entry)


@part_of_compiled
def start_from(seen: Seen, side: int, tables: TrainableTables, scratch: MatchScratch) -> None:
    """Write the entries of a position in which player `side` is not to move."""
    scratch.known[0] = -1
    for player in range(2):
        of_player = seen if player == side else swapped(seen, tables.squares, tables.planes)
        write_entries(of_player, tables.contributions, tables.offsets, scratch.entries[player])
        write_seen(of_player, scratch.seen[player])


@part_of_compiled
def move_to(seen: Seen, side: int, tables: TrainableTables, images: SquareImages, scratch: MatchScratch) -> None:
    """Change the entries to those of a position in which player `side` is not to move."""
    scratch.known[0] = -1
    for player in range(2):
        of_player = seen if player == side else swapped(seen, tables.squares, tables.planes)
        change_position(scratch.entries[player], images, seen_from(scratch.seen[player]), of_player)
        write_seen(of_player, scratch.seen[player])


class SelfPlay(NamedTuple):
    """What matches are played with, in one thread."""

    parameters: MatchParameters
    tables: TrainableTables
    images: SquareImages
    scratch: MatchScratch


@cache
def _valuing(rules: Rules, see: Callable[[Position], Seen]) -> Callable[..., tuple[float, bool, bool]]:
    play, is_over, return_to_move = rules.play, over_of(rules), rules.return_to_move
    value_at_end, moves_again = finished_value(rules), again_in(rules)

    @part_of_compiled
    def value_of_action(p: Position, action: int, player: int, using: SelfPlay) -> tuple[float, bool, bool]:
        """The value of an action to the player to move, whether it ends the match, and whether it wins it."""
        after = play(p, action)
        is_again = moves_again(after)
        sign = 1 if is_again else -1
        if is_over(after):
            value = sign * value_at_end(after, using.parameters.finished)
            return value, True, sign * part(return_to_move(after), 0) > 0
        side = 1 - player if is_again else player
        total = afterstate_sum(see(after), side, using.tables, using.images, using.scratch)
        return -sign * tangent(total, using.tables.is_portable), False, False

    return value_of_action


@part_of_compiled
def takes_any(match: int, ply: int, opening: int, wins: bool, parameters: MatchParameters) -> bool:
    """Whether a player who has a choice takes a random action: in the opening, or to explore."""
    if ply < opening or wins:
        return ply < opening
    rate = parameters.epsilons[min(ply, len(parameters.epsilons) - 1)]
    return bool(uniform_bits(random_bits(parameters.key, match, ply, EXPLORE)) < rate * (1 << 53))


@cache
def _best(rules: Rules, passing: int, see: Callable[[Position], Seen]) -> Callable[..., tuple[int, float, bool, bool]]:
    value_of_action = _valuing(rules, see)

    @part_of_compiled
    def best_action(p: Position, legal: Bits, player: int, using: SelfPlay) -> tuple[int, float, bool, bool]:
        """The first of the best actions, its value to the player to move, whether it ends the match, and wins it."""
        untried, number, chosen, best, ends, wins = legal, bit_count(legal), passing, -math.inf, False, False
        for _ in range(max(1, number)):
            action = passing if number == 0 else lowest(untried)
            untried &= untried - 1
            value, is_end, is_win = value_of_action(p, action, player, using)
            if value > best:
                chosen, best, ends, wins = action, value, is_end, is_win
        return chosen, best, ends, wins

    return best_action


@cache
def compile_self_play(rules: Rules, pass_action: int | None, see: Callable[[Position], Seen]) -> Callable[..., None]:
    """(first, using, played, begin, end): play the matches from `first + begin` to before `first + end` into rows
    `begin` to `end - 1` of `played`, an `Afterstates`; `using` is a `SelfPlay`.
    """
    play, unpack, moves_again = rules.play, rules.position.unpack, again_in(rules)
    legal_actions, value_of_action = rules.legal_actions, _valuing(rules, see)
    best_action = _best(rules, -1 if pass_action is None else pass_action, see)

    @part_of_compiled
    def play_match(p: Position, match: int, using: SelfPlay, played: Afterstates, row: int) -> None:
        """Play a match from this position into a row of `played`."""
        ply, player, is_over = 0, 0, False
        parameters, tables, scratch = using.parameters, using.tables, using.scratch
        opening = below(random_bits(parameters.key, match, 0, OPENING), parameters.opening_plies + 1)
        start_from(see(p), 1, tables, scratch)
        while not is_over:
            legal, explores = legal_actions(p), False
            chosen, best, is_over, wins = best_action(p, legal, player, using)
            value = best
            if bit_count(legal) > 1 and takes_any(match, ply, opening, wins, parameters):
                action = random_action(legal, parameters.key, match, ply)
                explores = action != chosen
                if explores:
                    chosen = action
                    value, is_over, _ = value_of_action(p, action, player, using)
            p = play(p, chosen)
            is_again = moves_again(p)
            played.values[row, ply], played.best[row, ply] = -value if is_again else value, best
            played.explored[row, ply], played.again[row, ply] = explores, is_again
            seen = see(p)
            write_seen(seen, played.positions[row, ply])
            player = player if is_again else 1 - player
            move_to(seen, 1 - player, tables, using.images, scratch)
            ply += 1
        played.first[row] = max(0, opening - 1)
        played.plies[row] = played.exact[row] = ply - 1

    @compiled
    def play_matches(start: Words, first: int, using: SelfPlay, played: Afterstates, begin: int, end: int) -> None:
        borrowed_using, played = by_reference(using), borrowed(played)
        for row in range(begin, end):
            play_match(unpack(load(start, 0)), first + row, borrowed_using, played, row)

    return partial(play_matches, word_rows(packed_array([rules.initial])))
