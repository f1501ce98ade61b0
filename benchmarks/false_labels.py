"""Count the labels of the judge (inaccuracy, mistake, blunder) that are wrong in whole matches.

    python benchmarks/false_labels.py hex_5x5
    python benchmarks/false_labels.py breakthrough --matches 20
    python benchmarks/false_labels.py nine_mens_morris --last 12
    python benchmarks/false_labels.py hex_5x5 --estimates

In the matches every second move is drawn at random, the others are the judge's. Of each position the judge labels the
move of the match and some others. Then all are solved by another program: an alpha-beta search to the ends of matches,
from the last position of a match to the first, which keeps what it has found. A label is wrong if the move keeps the
result of the best move. Positions that take too long are left out. With `--estimates` the judge proves nothing, which
measures its noise.
"""

import project_environment

import argparse
import random
from collections import Counter
from typing import NamedTuple

import numba
import numpy as np
import torch

from selfplay.cli.main import reporting_errors
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
    legal_actions, play, is_terminal, return_to_move = game.rules[1:5]
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


class Labelled(NamedTuple):
    """A move with what the judge says of it."""

    state: object
    action: int
    grade: str | None
    is_proved: bool
    lost: float
    """How much less than the best move it is said to be worth."""


def played(game, judge, generator, others, last):
    """The labelled moves of a match, and of others in its positions; only of the `last` positions, None: of all."""
    state, plies = game.init(), []
    while not bool(state.terminated):
        legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        is_random = last is not None or generator.random() < 1 / 2
        action = generator.choice(legal) if is_random else judge.estimate(state).best
        plies.append((state, legal, action))
        state = game.step(state, torch.tensor([action]))
    for before, legal, action in plies[-last:] if last else plies:
        for one in dict.fromkeys([action, *generator.sample(legal, min(others, len(legal)))]):
            found = judge.estimate(before, one)
            is_proved = found.knows(one) and found.knows(found.best)
            yield Labelled(before, one, found.grade(one), is_proved, found.value(found.best) - found.value(one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game", nargs="?", default="hex_5x5", help="by default hex_5x5")
    parser.add_argument("--matches", type=int, default=10)
    parser.add_argument("--others", type=int, default=2, help="other moves of each position that are labelled (2)")
    parser.add_argument("--last", type=int, help="label only so many positions at the end of random matches")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=20_000_000, help="most positions visited to solve one")
    parser.add_argument("--estimates", action="store_true", help="prove nothing")
    options = parser.parse_args()
    game, generator, counts, errors = make_game(options.game), random.Random(options.seed), Counter(), []
    judge, solver = judge_of(game), Solver(game, options.limit)
    if options.estimates:
        judge.prover = None
    for _ in range(options.matches):
        moves = list(played(game, judge, generator, options.others, options.last))
        for move in reversed(moves):
            legal = game.legal_action_mask(move.state)[0].nonzero()[:, 0].tolist()
            results = dict(zip(legal, solver.results(move.state, legal), strict=True))
            mine, best = results[move.action], max(results.values(), key=lambda one: -2 if np.isnan(one) else one)
            is_known = not np.isnan(mine) and (best == BEST or not np.isnan(list(results.values())).any())
            kind = "proved" if move.is_proved else "estimated"
            counts["moves"] += 1
            counts["solved"] += is_known
            if is_known:
                is_good = mine == best
                counts[f"{kind} good"] += is_good
                counts[f"{kind} labels"] += move.grade is not None
                counts[f"{kind} false"] += is_good and move.grade is not None
                if is_good:
                    errors.append(move.lost)
    print(f"{game.name}, {options.matches} matches, {counts['moves']} moves, {counts['solved']} solved:")
    for kind in ("proved", "estimated"):
        labels, good, false = (counts[f"{kind} {what}"] for what in ("labels", "good", "false"))
        share = f"{false} of {good} good moves have one ({false / max(1, good):.1%})"
        print(f"  both {kind}: {labels} labels, {share}")
    loss = ", ".join(f"{share:g} %: {np.percentile(errors, share):.2f}" for share in (90, 95, 98, 99))
    print(f"  How much less than the best move a good one is said to be worth, by quantiles: {loss}")


if __name__ == "__main__":
    with reporting_errors():
        main()
