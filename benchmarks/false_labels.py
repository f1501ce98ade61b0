"""Count the labels of the judge (inaccuracy, mistake, blunder) that are wrong in random late positions.

    python benchmarks/false_labels.py hex_7x7
    python benchmarks/false_labels.py hex_7x7 --estimates
    python benchmarks/false_labels.py breakthrough

Each position is solved by another program: in Hex an alpha-beta search with boards of its own, in Breakthrough the
proof-number search of breakthrough.py. A label is wrong if the move keeps the result of the best move. With
`--estimates` the judge proves nothing, which measures its noise.
"""

import project_environment

import argparse
import random
from functools import cache

import numpy as np
import torch
from breakthrough import winner

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


def late_position(game, wanted, generator):
    """An unfinished position after random moves, with as many stones as `wanted` draws."""
    while True:
        state, stones = game.init(), wanted(generator)
        while not bool(state.terminated[0]):
            if int((game.squares(state) != 0).sum()) == stones:
                return state
            legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
            state = game.step(state, torch.tensor([generator.choice(legal)]))


GAMES = ("hex_5x5", "hex_6x6", "hex_7x7", "breakthrough")
TABLE_BITS = 16
"""Of the search of Breakthrough, for positions of few stones."""


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


def hex_results(game):
    """`wins_by(state, actions)`: whether each of the actions wins."""
    wins, connects = solver(game.observation_shape[1])

    def wins_by(state, actions):
        (own, opp), is_first = boards(game, state), int(state.current_player) == 0
        after = [own | 1 << cell for cell in actions]
        return [connects(stones, is_first) or not wins(opp, stones, not is_first) for stones in after]

    return wins_by


def breakthrough_results(game):
    """Likewise."""

    def wins_by(state, actions):
        after = [game.step(state, torch.tensor([action])) for action in actions]
        return [bool(one.terminated) or winner(one, TABLE_BITS)[0] == int(state.current_player) for one in after]

    return wins_by


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game", nargs="?", default="hex_7x7", choices=GAMES, help="by default hex_7x7")
    parser.add_argument("--fewest", type=int, help="fewest empty cells in Hex (default 9), stones in Breakthrough (4)")
    parser.add_argument("--most", type=int, help="the most of them (13, 10)")
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--estimates", action="store_true", help="prove nothing")
    options = parser.parse_args()
    game, generator = make_game(options.game), random.Random(options.seed)
    judge = judge_of(game)
    is_hex = game.name.startswith("hex")
    fewest, most = options.fewest or (9 if is_hex else 4), options.most or (13 if is_hex else 10)
    wins_by = (hex_results if is_hex else breakthrough_results)(game)

    def wanted(generator):
        number = generator.randint(fewest, most)
        return game.num_squares - number if is_hex else number

    if options.estimates:
        judge.searcher = None
    counts, errors = dict.fromkeys(("exact", "good", "false", "bad", "labelled"), 0), []
    for _ in range(options.positions):
        state = late_position(game, wanted, generator)
        actions = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        results = wins_by(state, actions)
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
