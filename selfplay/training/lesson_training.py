"""Comparison training: tables learn to give the highest value to one of the good actions of a position.

Tables learn from pairs of actions, one of which is known to be better (Tesauro, "Connectionist learning of expert
preferences by comparison training", 1989). After a step, the value of the best good action exceeds the value of the
best poor action by the margin. Each step is the smallest change of the weights that does this (passive-aggressive
learning: Crammer et al., 2006).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, lowest, part, word_rows
from selfplay.compute.elementary import tangent
from selfplay.compute.positions import Packed
from selfplay.games import Game
from selfplay.games.pattern_planes import Seen, check_two_boards
from selfplay.games.pattern_sums import weight_index
from selfplay.games.patterns import TrainableTables, row_of_weights, write_entries
from selfplay.games.rules import Position, Rules, over_of
from selfplay.training.td_learning import without_needless_numbers

FINISHED = 1e9
"""The sum of weights that stands for a won match, larger than all others. A lost match has its negative."""

NO_ENTRY = -1

Entries = NDArray[np.int32]
"""int32[2, I]: scratch memory for the entries of two positions."""

BLOCK = 1 << 14
"""Actions are chosen in this number of positions at a time, which takes a fraction of a second."""

RowNumbers = NDArray[np.int64]
"""int64[N]: numbers of rows."""


class Comparisons(NamedTuple):
    """Which actions of N positions are known to be good or poor. An action is a bit of a word."""

    position: Packed
    """int64[N, 2]"""
    good: Words
    """int64[N]: the good actions; one of them should have the highest value. At least one."""
    poor: Words
    """int64[N]: the poor actions, which should have lower values. Nothing is known about the other actions."""


class ComparisonTraining:
    """The tables of a network as a player that looks one ply ahead, and their training.

    Args:
        tables: whose `weights` are changed in place.

    Raises SettingError as `check_two_boards`.
    """

    def __init__(self, game: Game, tables: TrainableTables) -> None:
        check_two_boards(game)
        self.weights = tables.weights
        self._tables = without_needless_numbers(tables)
        self._choose, self._learn = compile_choice(game.compiled_rules), compile_learning(game.compiled_rules)

    def best_actions(self, positions: Packed) -> Words:
        """int64[N]: the actions of the highest value in each position, as a search of one ply finds it."""
        actions = np.empty(len(positions), dtype=np.int64)

        def choose(first: int) -> None:
            part = slice(first, first + BLOCK)
            self._choose(word_rows(positions[part]), self._tables, self._new_entries(), actions[part])

        with ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS) as pool:  # type: ignore[attr-defined]
            list(pool.map(choose, range(0, len(positions), BLOCK)))
        return actions

    def learn(self, comparisons: Comparisons, order: RowNumbers, margin: float) -> tuple[int, Words]:
        """Take a step for each position in this order (int64[N], their rows).

        Args:
            margin: by how much the sum of weights of a good action should exceed those of the poor actions.

        Returns:
            The number of positions without this margin; and int64[N], the action of the highest value if nothing is
            known about it, else 0.
        """
        unknown = np.zeros_like(order)
        words = comparisons._replace(position=word_rows(comparisons.position))
        number = self._learn(words, order, margin, self._tables, self._new_entries(), unknown)
        return number, unknown

    def _new_entries(self) -> Entries:
        return np.empty((2, len(self._tables.offsets)), dtype=np.int32)


@cache
def _writing(rules: Rules) -> Callable[..., Bits]:
    is_over = over_of(rules)

    @part_of_compiled
    def write_entries_after(after: Position, tables: TrainableTables, entries: Bits) -> Bits:
        """Write the entries of an afterstate, or NO_ENTRY if the match is over; returns its phase."""
        seen = Seen(part(after.own, 0), part(after.opp, 0), 0, 0)
        if is_over(after):
            entries[:] = NO_ENTRY
        else:
            write_entries(seen, tables.contributions, tables.offsets, entries)
        return row_of_weights(seen, tables.phases, tables.squares, tables.parities)

    return write_entries_after


@cache
def _summing(rules: Rules) -> Callable[..., Bits]:
    play, return_to_move, write_entries_after = rules.play, rules.return_to_move, _writing(rules)

    @part_of_compiled
    def sum_of_action(p: Position, action: int, tables: TrainableTables, entries: Bits) -> Bits:
        """The sum of weights after an action; `entries` is overwritten."""
        after = play(p, action)
        weights = tables.weights[write_entries_after(after, tables, entries)]
        if entries[0] == NO_ENTRY:
            return -FINISHED * part(return_to_move(after), 0)
        total: Bits = 0.0
        # Added in the same order as in a search; in another order, rounding could exchange two nearly equal moves.
        for image in range(len(entries)):
            total += weights[weight_index(entries[image], tables.weight_of_entry)]
        return total

    return sum_of_action


@cache
def compile_choice(rules: Rules) -> Callable[..., None]:
    """The kernel of `ComparisonTraining.best_actions` for a game with these rules."""
    legal_actions, unpack, sum_of_action = rules.legal_actions, rules.position.unpack, _summing(rules)

    @compiled
    def choose(positions: Words, tables: TrainableTables, entries: Entries, actions: Words) -> None:
        tables, entries = borrowed((tables, entries))
        for i in range(len(positions)):
            p = unpack(load(positions, i))
            untried, best, actions[i] = legal_actions(p), -FINISHED, 0
            while untried != 0:
                action = lowest(untried)
                untried &= untried - 1
                # The player compares values, not sums: sums far from 0 have equal values.
                value = tangent(sum_of_action(p, action, tables, entries[0]), tables.is_portable)
                if value > best:
                    best, actions[i] = value, 0
                if value == best:
                    actions[i] |= 1 << action

    return choose


@cache
def _stepping(rules: Rules) -> Callable[..., None]:
    play, write_entries_after = rules.play, _writing(rules)

    @part_of_compiled
    def take_step(p: Position, good: int, poor: int, lacking: float, tables: TrainableTables, entries: Entries) -> None:
        """Move the two sums apart by about `lacking`. Each weight that is in only one of them changes by the same
        amount."""
        better, worse = entries
        write_entries_after(play(p, poor), tables, worse)
        phase = write_entries_after(play(p, good), tables, better)
        differing = 0
        for image in range(len(better)):
            if better[image] != worse[image]:
                differing += (better[image] != NO_ENTRY) + (worse[image] != NO_ENTRY)
        for image in range(len(better)):
            if better[image] != worse[image]:
                change = np.float32(lacking / differing)
                if better[image] != NO_ENTRY:
                    tables.weights[phase, weight_index(better[image], tables.weight_of_entry)] += change
                if worse[image] != NO_ENTRY:
                    tables.weights[phase, weight_index(worse[image], tables.weight_of_entry)] -= change

    return take_step


@cache
def compile_learning(rules: Rules) -> Callable[..., int]:
    """The kernel of `ComparisonTraining.learn` for a game with these rules."""
    legal_actions, unpack, sum_of_action = rules.legal_actions, rules.position.unpack, _summing(rules)
    take_step = _stepping(rules)

    @part_of_compiled
    def best_of_each(
        p: Position, all_good: Bits, all_poor: Bits, tables: TrainableTables, entries: Entries
    ) -> tuple[int, int, int, float]:
        """The best good and the best poor action; the best other one as a word if it is the best of all, else 0; and by
        how much the sum of the good one exceeds that of the poor one."""
        best_good = best_poor = best_other = -2 * FINISHED
        good = poor = other = 0
        untried = legal_actions(p)
        while untried != 0:
            action = lowest(untried)
            untried &= untried - 1
            total = sum_of_action(p, action, tables, entries[0])
            if all_good >> action & 1:
                if total > best_good:
                    best_good, good = total, action
            elif all_poor >> action & 1:
                if total > best_poor:
                    best_poor, poor = total, action
            elif total > best_other:
                best_other, other = total, 1 << action
        return good, poor, other if best_other >= max(best_good, best_poor) else 0, best_good - best_poor

    @compiled
    def learn(
        comparisons: Comparisons,
        order: RowNumbers,
        margin: float,
        tables: TrainableTables,
        entries: Entries,
        unknown: Words,
    ) -> int:
        comparisons, tables, entries = borrowed((comparisons, tables, entries))
        number = 0
        for row in order:
            p = unpack(load(comparisons.position, row))
            good, poor, unknown[row], lead = best_of_each(
                p, comparisons.good[row], comparisons.poor[row], tables, entries
            )
            if unknown[row] == 0 and margin - lead > 0:
                number += 1
                take_step(p, good, poor, margin - lead, tables, entries)
        return number

    return learn
