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

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled, register_rules
from selfplay.compute.compiled_words import as_word, part
from selfplay.compute.elementary import tangent
from selfplay.games import Game
from selfplay.games.pattern_sums import weight_index
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.games.rules import Rules
from selfplay.training.td_learning import without_needless_numbers

FINISHED = 1e9
"""The sum of weights that stands for a won match, larger than all others. A lost match has its negative."""

NO_ENTRY = -1

Entries = NDArray[np.int32]
"""int32[2, I]: scratch memory for the entries of two positions."""

BLOCK = 1 << 14
"""Actions are chosen in this number of positions at a time, which takes a fraction of a second."""


class Comparisons(NamedTuple):
    """Which actions of N positions are known to be good or poor. An action is a bit of a word."""

    own: Words
    """int64[N]: the stones of the player to move."""
    opp: Words
    """int64[N]"""
    good: Words
    """int64[N]: the good actions; one of them should have the highest value. At least one."""
    poor: Words
    """int64[N]: the poor actions, which should have lower values. Nothing is known about the other actions."""


class ComparisonTraining:
    """The tables of a network as a player that looks one ply ahead, and their training.

    Args:
        tables: whose `weights` are changed in place.
    """

    def __init__(self, game: Game, tables: TrainableTables) -> None:
        self.weights = tables.weights
        self._tables = without_needless_numbers(tables)
        self._choose, self._learn = compile_comparisons(game.rules)

    def best_actions(self, own: Words, opp: Words) -> Words:
        """int64[N]: the actions of the highest value in each position, as a search of one ply finds it."""
        actions = np.empty_like(own)

        def choose(first: int) -> None:
            part = slice(first, first + BLOCK)
            self._choose(own[part], opp[part], self._tables, self._new_entries(), actions[part])

        with ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS) as pool:  # type: ignore[attr-defined]
            list(pool.map(choose, range(0, len(own), BLOCK)))
        return actions

    def learn(self, comparisons: Comparisons, order: Words, margin: float) -> tuple[int, Words]:
        """Take a step for each position in this order (int64[N], their rows).

        Args:
            margin: by how much the sum of weights of a good action should exceed those of the poor actions.

        Returns:
            The number of positions without this margin; and int64[N], the action of the highest value if nothing is
            known about it, else 0.
        """
        unknown = np.zeros_like(order)
        number = self._learn(comparisons, order, margin, self._tables, self._new_entries(), unknown)
        return number, unknown

    def _new_entries(self) -> Entries:
        return np.empty((2, len(self._tables.offsets)), dtype=np.int32)


@cache
def compile_comparisons(rules: Rules) -> tuple[Callable[..., None], Callable[..., int]]:
    """The kernels of `ComparisonTraining.best_actions` and `learn` for a game with these rules."""
    legal_actions, play, is_terminal, return_to_move = rules[1:5]
    register_rules()

    @part_of_compiled
    def write_entries_after(own: Word, opp: Word, move: Word, tables: TrainableTables, entries: Word) -> Word:
        """Write the entries after a move, or NO_ENTRY if the match is over; returns their phase."""
        to_move, just_moved = play(own, opp, move)
        if legal_actions(to_move, just_moved) == 0 and is_terminal(to_move, just_moved):
            entries[:] = NO_ENTRY
        else:
            write_entries(part(just_moved, 0), part(to_move, 0), tables.contributions, tables.offsets, entries)
        return phase_of(just_moved, to_move, len(tables.weights), tables.squares, tables.parities)

    @part_of_compiled
    def sum_of_move(own: Word, opp: Word, move: Word, tables: TrainableTables, entries: Word) -> Word:
        """The sum of weights after a move; `entries` is overwritten."""
        weights = tables.weights[write_entries_after(own, opp, move, tables, entries)]
        if entries[0] == NO_ENTRY:
            to_move, just_moved = play(own, opp, move)
            return -FINISHED * part(return_to_move(to_move, just_moved), 0)
        total: Word = 0.0
        # Added in the same order as in a search; in another order, rounding could exchange two nearly equal moves.
        for image in range(len(entries)):
            total += weights[weight_index(entries[image], tables.weight_of_entry)]
        return total

    @compiled
    def choose(own: Words, opp: Words, tables: TrainableTables, entries: Entries, actions: Words) -> None:
        tables, entries = borrowed((tables, entries))
        for i in range(len(own)):
            mine, others = as_word(own[i]), as_word(opp[i])
            untried, best, actions[i] = legal_actions(mine, others), -FINISHED, 0
            while untried:
                move = untried & -untried
                untried ^= move
                # The player compares values, not sums: sums far from 0 have equal values.
                value = tangent(sum_of_move(mine, others, move, tables, entries[0]), tables.is_portable)
                if value > best:
                    best, actions[i] = value, 0
                if value == best:
                    actions[i] |= part(move, 0)

    @part_of_compiled
    def take_step(
        own: Word, opp: Word, good: Word, poor: Word, lacking: float, tables: TrainableTables, entries: Entries
    ) -> None:
        """Move the two sums apart by about `lacking`. Each weight that is in only one of them changes by the same
        amount."""
        better, worse = entries
        write_entries_after(own, opp, poor, tables, worse)
        phase = write_entries_after(own, opp, good, tables, better)
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

    @compiled
    def learn(
        comparisons: Comparisons,
        order: Words,
        margin: float,
        tables: TrainableTables,
        entries: Entries,
        unknown: Words,
    ) -> int:
        comparisons, tables, entries = borrowed((comparisons, tables, entries))
        number = 0
        for row in order:
            own, opp = as_word(comparisons.own[row]), as_word(comparisons.opp[row])
            all_good, all_poor = as_word(comparisons.good[row]), as_word(comparisons.poor[row])
            best_good = best_poor = best_other = -2 * FINISHED
            untried = legal_actions(own, opp)
            good = poor = other = as_word(0)
            while untried:
                move = untried & -untried
                untried ^= move
                total = sum_of_move(own, opp, move, tables, entries[0])
                if all_good & move:
                    if total > best_good:
                        best_good, good = total, move
                elif all_poor & move:
                    if total > best_poor:
                        best_poor, poor = total, move
                elif total > best_other:
                    best_other, other = total, move
            if best_other >= max(best_good, best_poor):
                unknown[row] = part(other, 0)
                continue
            lacking = margin - (best_good - best_poor)
            if lacking > 0:
                number += 1
                take_step(own, opp, good, poor, lacking, tables, entries)
        return number

    return choose, learn
