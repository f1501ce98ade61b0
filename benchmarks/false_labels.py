"""Count the labels of the judge (inaccuracy, mistake, blunder) that are wrong in random late positions of Hex.

    python benchmarks/false_labels.py --size 7
    python benchmarks/false_labels.py --size 7 --estimates

Each position is solved by an independent program: an alpha-beta search with boards of its own. A label is wrong if the
move keeps the result of the best move. With `--estimates` the judge proves nothing, which measures its noise.
"""

import project_environment

import argparse
import random
from functools import cache

import numpy as np
import torch

from selfplay.cli.main import reporting_errors
from selfplay.games import make_game
from selfplay.playing.hints import judge_of


def neighbours(size):
    """The neighbours of each cell of a rhombus of hexagons, as the bits of a number."""
    steps = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, 1), (1, -1))
    cells = [divmod(cell, size) for cell in range(size * size)]
    beside = [[(row + down, column + right) for down, right in steps] for row, column in cells]
    return [sum(1 << r * size + c for r, c in near if 0 <= r < size and 0 <= c < size) for near in beside]


def solver(size):
    """`wins(own, opp, is_first)`: whether the player to move wins; `connects(own, is_first)`: whether it has won."""
    near, full = neighbours(size), (1 << size * size) - 1
    top = sum(1 << column for column in range(size))
    left = sum(1 << row * size for row in range(size))
    edges = {True: (top, top << size * (size - 1)), False: (left, left << size - 1)}

    def connects(own, is_first):
        start, end = edges[is_first]
        reached, fresh = 0, own & start
        while fresh:
            reached |= fresh
            found = 0
            while fresh:
                lowest = fresh & -fresh
                found |= near[lowest.bit_length() - 1]
                fresh ^= lowest
            fresh = found & own & ~reached
        return bool(reached & end)

    @cache
    def wins(own, opp, is_first):
        empty = full & ~(own | opp)
        while empty:
            lowest = empty & -empty
            empty ^= lowest
            if connects(own | lowest, is_first) or not wins(opp, own | lowest, not is_first):
                return True
        return False

    return wins, connects


def late_position(game, fewest, most, generator):
    """An unfinished position after random moves, with fewest..most empty cells."""
    while True:
        state, empty = game.init(), generator.randint(fewest, most)
        for _ in range(game.num_squares - empty):
            legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
            state = game.step(state, torch.tensor([generator.choice(legal)]))
            if bool(state.terminated[0]):
                break
        if not bool(state.terminated[0]):
            return state


def boards(game, state):
    squares = game.squares(state)[0].tolist()
    first, second = (sum(1 << cell for cell, stone in enumerate(squares) if stone == seat) for seat in (1, -1))
    return (first, second) if int(state.current_player) == 0 else (second, first)


def labels(judge, state, actions):
    """Of each move: its label, None without one; whether its value and that of the best are exact; the estimate."""
    first = judge.estimate(state)
    for action in actions:
        one = first if first.is_exact else judge.estimate(state, action)
        yield one.grade(action), one.knows(action) and one.knows(one.best), one


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=7, help="cells along a side (default 7)")
    parser.add_argument("--fewest", type=int, default=9, help="fewest empty cells (default 9)")
    parser.add_argument("--most", type=int, default=13, help="most empty cells (default 13)")
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--estimates", action="store_true", help="prove nothing")
    options = parser.parse_args()
    game, generator = make_game("hex", options.size), random.Random(options.seed)
    judge, (wins, connects) = judge_of(game), solver(options.size)
    if options.estimates:
        judge.searcher = None
    counts, errors = dict.fromkeys(("exact", "good", "false", "bad", "labelled"), 0), []
    for _ in range(options.positions):
        state = late_position(game, options.fewest, options.most, generator)
        (own, opp), is_first = boards(game, state), int(state.current_player) == 0
        actions = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        results = [
            connects(own | 1 << cell, is_first) or not wins(opp, own | 1 << cell, not is_first) for cell in actions
        ]
        for (label, is_exact, one), action, result in zip(labels(judge, state, actions), actions, results, strict=True):
            is_good = result == max(results)
            counts["exact"] += is_exact
            counts["good" if is_good else "bad"] += 1
            counts["false" if is_good else "labelled"] += label is not None
            if is_good:
                errors.append(one.value(one.best) - one.value(action))
    share = counts["false"] / max(1, counts["good"])
    print(f"{game.name}, {options.positions} positions: {counts}; {share:.1%} of the good moves have a label")
    loss = ", ".join(f"{part:g} %: {np.percentile(errors, part):.2f}" for part in (90, 95, 98, 99))
    print(f"How much less than the best move a good one is said to be worth, by quantiles: {loss}")


if __name__ == "__main__":
    with reporting_errors():
        main()
