"""Count the labels of the judge (inaccuracy, mistake, blunder) that are wrong in whole matches.

    python benchmarks/false_labels.py hex_5x5
    python benchmarks/false_labels.py breakthrough --matches 20
    python benchmarks/false_labels.py nine_mens_morris --last 12
    python benchmarks/false_labels.py hex_5x5 --estimates

In the matches every second move is drawn at random, the others are the judge's. All their positions are solved by
another program: an alpha-beta search to the ends of matches, from the last position of a match to the first, which
keeps what it has found, until one takes too long. In those that are solved, the judge labels the move of the match and
some others. A label is wrong if the move keeps the result of the best move. With `--estimates` the judge proves
nothing, which measures its noise.
"""

import project_environment

import argparse
import random
from collections import Counter
from typing import NamedTuple

import numba
import numpy as np
import torch

from selfplay.cli.entry import reporting_errors
from selfplay.compute.compiled_words import load, lowest, num_parts, part, position_hash, word_rows
from selfplay.compute.positions import pack
from selfplay.games import make_game
from selfplay.playing.hints import judge_of
from selfplay.search.evaluation import moves_again

TABLE_BITS, MOST_PLIES = 21, 200
WORST, BEST = -1, 1
VISITED, LIMIT = range(2)
BOUNDS, POSITION = range(2)
"""An entry of the table: both bounds of the result, 0 where there is none, and the parts of the position."""


class Memory(NamedTuple):
    """What a solver keeps."""

    table: np.ndarray
    moves: np.ndarray
    """int64[plies, actions]"""
    cuts: np.ndarray
    """int64[2, actions]: how often each action has cut off the others, by the parity of the ply."""
    counts: np.ndarray


def compiled_solver(game):
    """`solve(positions, row, memory)`: the result of a position to the player to move; it is wrong once `counts` has
    reached its limit."""
    _, legal_actions, play, is_terminal, return_to_move, *_ = game.rules
    unpack, is_again = game.rules.position.unpack, moves_again(game.rules)
    passing = -1 if game.pass_action is None else game.pass_action

    @numba.njit
    def ordered(bits, ply, memory):
        moves, cuts, size = memory.moves[ply], memory.cuts[ply & 1], 0
        if bits == 0:
            moves[0] = passing
            return 1
        while bits != 0:
            action = lowest(bits)
            bits &= bits - 1
            place = size
            while place > 0 and cuts[moves[place - 1]] < cuts[action]:
                moves[place] = moves[place - 1]
                place -= 1
            moves[place] = action
            size += 1
        return size

    @numba.njit
    def place_of(packed, table):
        size = num_parts(packed) + POSITION
        return (position_hash(packed) & (len(table) // size - 1)) * size

    @numba.njit
    def bounds_in(packed, table):
        place = place_of(packed, table)
        known = table[place + BOUNDS]
        for k in range(num_parts(packed)):
            if table[place + POSITION + k] != part(packed, k):
                known = 0
        return (WORST, BEST) if known == 0 else (known // 4 - 2, known % 4 - 2)

    @numba.njit
    def keep(packed, lower, upper, table):
        place = place_of(packed, table)
        table[place + BOUNDS] = 4 * (lower + 2) + upper + 2
        for k in range(num_parts(packed)):
            table[place + POSITION + k] = part(packed, k)

    @numba.njit
    def result(position, low, high, ply, memory):
        bits, counts = legal_actions(position), memory.counts
        if bits == 0 and is_terminal(position):
            return int(part(return_to_move(position), 0))
        counts[VISITED] += 1
        packed = pack(position)
        lower, upper = bounds_in(packed, memory.table)
        if lower >= high or lower == upper:
            return lower
        if upper <= low:
            return upper
        best, count = WORST - 1, ordered(bits, ply, memory)
        for number in range(count):
            action = memory.moves[ply, number]
            after, least = play(position, action), max(low, best)
            if is_again(after):
                value = result(after, least, high, ply + 1, memory)
            else:
                value = -result(after, -high, -least, ply + 1, memory)
            best = max(best, value)
            if best >= min(high, upper) or counts[VISITED] > counts[LIMIT] or ply + 2 == MOST_PLIES:
                memory.cuts[ply & 1, action] += 1
                break
        if ply + 2 == MOST_PLIES:
            counts[VISITED] = counts[LIMIT] + 1
        if counts[VISITED] <= counts[LIMIT]:
            keep(packed, best if best > low else lower, best if best < high else upper, memory.table)
        return best

    @numba.njit
    def solve(positions, row, memory):
        return result(unpack(load(positions, row)), WORST, BEST, 0, memory)

    return solve


class Solver:
    """Solves positions, each in at most `limit` visited ones."""

    def __init__(self, game, limit):
        self.game, self.limit, self._solve = game, limit, compiled_solver(game)
        words, actions = game.rules.position.num_words, game.num_distinct_actions
        self._memory = Memory(
            np.zeros((words + POSITION) << TABLE_BITS, dtype=np.int64),
            np.zeros((MOST_PLIES, actions), dtype=np.int64),
            np.zeros((2, actions), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def results(self, state, actions):
        """The result of each action to the player to move; None where it takes too long."""
        after = self.game.step_unchecked(
            state.select(torch.zeros(len(actions), dtype=torch.int64)), torch.tensor(actions)
        )
        signs = torch.where(after.current_player == state.current_player, 1, -1).tolist()
        return [sign * self._result(word_rows(after.position), row) for row, sign in enumerate(signs)]

    def _result(self, positions, row):
        counts = self._memory.counts
        counts[:] = 0, self.limit
        found = self._solve(positions, row, self._memory)
        return np.nan if counts[VISITED] > self.limit else found


def positions_of_match(game, judge, generator, is_random):
    """The positions of a match with the action taken in each; `is_random`: all moves, not only every second."""
    state, found = game.init(), []
    while not bool(state.terminated):
        legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        judged = None if is_random or generator.random() < 1 / 2 else judge.estimate(state)
        action = generator.choice(legal) if judged is None else judged.best
        found.append((state, legal, action))
        state = game.step(state, torch.tensor([action]))
    return found


def count_labels(solved, judge, others, generator, counts, errors):
    """Count the labels of the move of a match, and of others, in a position whose results are known."""
    state, action, results = solved
    best = max(results.values())
    for one in dict.fromkeys([action, *generator.sample(sorted(results), min(others, len(results)))]):
        found, is_good = judge.estimate(state, one), results[one] == best
        known, grade = found.knows(one) + found.knows(found.best), found.grade(one)
        counts["labels", known] += grade is not None
        counts["good", known] += is_good
        counts["false", known] += is_good and grade is not None
        if is_good:
            errors.append(found.value(found.best) - found.value(one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game", nargs="?", default="hex_5x5", help="by default hex_5x5")
    parser.add_argument("--matches", type=int, default=10)
    parser.add_argument("--others", type=int, default=2, help="other moves of each position that are labelled (2)")
    parser.add_argument("--last", type=int, help="label only so many positions at the end of random matches")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=5_000_000, help="most positions visited to solve one")
    parser.add_argument("--estimates", action="store_true", help="prove nothing")
    options = parser.parse_args()
    game, generator, counts, errors = make_game(options.game), random.Random(options.seed), Counter(), []
    judge, solver = judge_of(game), Solver(game, options.limit)
    if options.estimates:
        judge.prover = None
    for _ in range(options.matches):
        played = positions_of_match(game, judge, generator, options.last is not None)
        for state, legal, action in reversed(played[-options.last :] if options.last else played):
            results = dict(zip(legal, solver.results(state, legal), strict=True))
            if np.isnan(list(results.values())).any():
                # Those before it take longer.
                break
            counts["positions"] += 1
            count_labels((state, action, results), judge, options.others, generator, counts, errors)
    print(f"{game.name}, {options.matches} matches, {counts['positions']} positions solved")
    print("  labels, false ones, good moves:")
    for known, name in ((2, "both proved"), (1, "one proved"), (0, "both estimated")):
        labels, false, good = (counts[what, known] for what in ("labels", "false", "good"))
        print(f"  {name}: {labels}, {false} ({false / max(1, good):.1%}), {good}")
    loss = ", ".join(f"{share:g} %: {np.percentile(errors, share):.2f}" for share in (90, 95, 98, 99))
    print(f"  How much less than the best move a good one is said to be worth, by quantiles: {loss}")


if __name__ == "__main__":
    with reporting_errors():
        main()
