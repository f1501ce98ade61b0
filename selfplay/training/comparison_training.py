"""Comparison training: tables learn to give the highest value to one of the good actions of a position.

Learning from pairs of actions, of which one is known to be better, is due to Tesauro ("Connectionist learning of expert
preferences by comparison training", 1989). Each step is the smallest change of the weights that puts the best good
action the wanted margin ahead of the best poor one, times a rate (passive-aggressive learning: Crammer et al., 2006).
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled, register_rules
from selfplay.games import Game
from selfplay.games.pattern_sums import SquareImages, images_of_squares, weight_index
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.games.rules import Rules
from selfplay.training.td_learning import without_needless_numbers
from selfplay.training.td_matches import Scratch, afterstate_sum, new_scratch

FINISHED = 1e9
"""The sum of weights that stands for a won match, above all others; that for a lost one is as far below 0."""

NO_ENTRY = -1

BLOCK = 1 << 14
"""Actions are chosen in this number of positions at a time, which takes a fraction of a second."""


class Comparisons(NamedTuple):
    """What is known of the actions of N positions. An action is a bit of a word."""

    own: Words
    """int64[N]: the stones of the player to move."""
    opp: Words
    """int64[N]"""
    good: Words
    """int64[N]: the actions of which one should have the highest value; at least one."""
    poor: Words
    """int64[N]: the actions that should have a lower one. Nothing is known of the other actions."""
    margins: NDArray[np.float64]
    """float64[N]: by how much, as a difference of sums of weights."""


class ComparisonTraining:
    """The tables of a network as a player that looks one ply ahead, and their training.

    Args:
        tables: whose `weights` are changed in place.
        learning: the weights of this number of images, the first ones, are changed; those of the others stay.
    """

    def __init__(self, game: Game, tables: TrainableTables, learning: int) -> None:
        self.weights, self.learning = tables.weights, learning
        self._images, self._tables = images_of_squares(tables), without_needless_numbers(tables)
        self._new_scratch = partial(new_scratch, len(tables.offsets), game.max_game_length)
        self._choose, self._learn = compile_comparisons(game.rules)

    def best_actions(self, own: Words, opp: Words) -> Words:
        """int64[N]: the action of the highest value in each position as a bit, the lowest of several; 0: a pass."""
        actions = np.empty_like(own)

        def choose(first: int) -> None:
            part = slice(first, first + BLOCK)
            self._choose(own[part], opp[part], self._tables, self._images, self._new_scratch(), actions[part])

        with ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS) as pool:  # type: ignore[attr-defined]
            list(pool.map(choose, range(0, len(own), BLOCK)))
        return actions

    def learn(self, comparisons: Comparisons, order: Words, rate: float) -> tuple[int, Words]:
        """Take a step for each position in this order (int64[N], their rows).

        Returns:
            How many positions lacked their margin; and int64[N], the action of the highest value where nothing is known
            of it, else 0.
        """
        unknown = np.zeros_like(order)
        number = self._learn(
            *(comparisons, order, rate, self._tables, self._images, self._new_scratch(), self.learning), unknown
        )
        return number, unknown


@cache
def compile_comparisons(rules: Rules) -> tuple[Callable[..., None], Callable[..., int]]:
    """The kernels of `ComparisonTraining.best_actions` and `learn` for a game with these rules."""
    legal_actions, play, is_terminal, return_to_move = rules[1:5]
    register_rules()

    @part_of_compiled
    def sum_of_move(
        own: Word, opp: Word, move: Word, tables: TrainableTables, images: SquareImages, scratch: Scratch
    ) -> Word:
        """The sum of weights after a move; `scratch.entries[0]` are those of the position."""
        to_move, just_moved = play(own, opp, move)
        if legal_actions(to_move, just_moved) == 0 and is_terminal(to_move, just_moved):
            return -FINISHED * return_to_move(to_move, just_moved)
        return afterstate_sum(own, opp, just_moved, to_move, scratch.entries[0], tables, images, scratch)

    @part_of_compiled
    def prepare(own: Word, opp: Word, tables: TrainableTables, scratch: Scratch) -> None:
        write_entries(own, opp, tables.contributions, tables.offsets, scratch.entries[0])
        scratch.known[0] = -1

    @compiled
    def choose(
        own: Words, opp: Words, tables: TrainableTables, images: SquareImages, scratch: Scratch, actions: Words
    ) -> None:
        tables, images, scratch = borrowed((tables, images, scratch))
        for i in range(len(own)):
            untried, best, actions[i] = legal_actions(own[i], opp[i]), -math.inf, 0
            if untried & (untried - 1) == 0:
                actions[i] = untried
                continue
            prepare(own[i], opp[i], tables, scratch)
            while untried and best < 1.0:
                move = untried & -untried
                untried ^= move
                # Values, as the player compares them: sums far from 0 have the same. None is above that of a win, 1.
                value = math.tanh(sum_of_move(own[i], opp[i], move, tables, images, scratch))
                if value > best:
                    best, actions[i] = value, move

    @part_of_compiled
    def write_entries_after(own: Word, opp: Word, move: Word, tables: TrainableTables, entries: Word) -> Word:
        """Write the entries after a move, or NO_ENTRY if the match is over; returns their phase."""
        to_move, just_moved = play(own, opp, move)
        if legal_actions(to_move, just_moved) == 0 and is_terminal(to_move, just_moved):
            entries[:] = NO_ENTRY
        else:
            write_entries(just_moved, to_move, tables.contributions, tables.offsets, entries)
        return phase_of(just_moved, to_move, len(tables.weights), tables.squares, tables.parities)

    @part_of_compiled
    def take_step(
        own: Word,
        opp: Word,
        good: Word,
        poor: Word,
        lacking: float,
        tables: TrainableTables,
        scratch: Scratch,
        learning: int,
    ) -> None:
        """Move the two sums apart by about `lacking`, by the same change of each weight that only one of them has."""
        better, worse = scratch.changed, scratch.entries[1]
        phase = write_entries_after(own, opp, poor, tables, worse)
        phase = write_entries_after(own, opp, good, tables, better)
        differing = 0
        for image in range(learning):
            if better[image] != worse[image]:
                differing += (better[image] != NO_ENTRY) + (worse[image] != NO_ENTRY)
        for image in range(learning):
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
        rate: float,
        tables: TrainableTables,
        images: SquareImages,
        scratch: Scratch,
        learning: int,
        unknown: Words,
    ) -> int:
        comparisons, tables, images, scratch = borrowed((comparisons, tables, images, scratch))
        number = 0
        for row in order:
            own, opp = comparisons.own[row], comparisons.opp[row]
            best_good = best_poor = best_other = -2 * FINISHED
            good = poor = other = np.int64(0)
            untried = legal_actions(own, opp)
            prepare(own, opp, tables, scratch)
            while untried:
                move = untried & -untried
                untried ^= move
                total = sum_of_move(own, opp, move, tables, images, scratch)
                if comparisons.good[row] & move:
                    if total > best_good:
                        best_good, good = total, move
                elif comparisons.poor[row] & move:
                    if total > best_poor:
                        best_poor, poor = total, move
                elif total > best_other:
                    best_other, other = total, move
            if best_other >= max(best_good, best_poor):
                unknown[row] = other
                continue
            lacking = comparisons.margins[row] - (best_good - best_poor)
            if lacking > 0:
                number += 1
                take_step(own, opp, good, poor, rate * lacking, tables, scratch, learning)
        return number

    return choose, learn
