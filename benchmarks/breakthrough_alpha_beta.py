"""Matches of Breakthrough against an independent program: alpha-beta that counts stones, written without the library.

    python benchmarks/breakthrough_alpha_beta.py strongest --size 8 --depth 8
    python benchmarks/breakthrough_alpha_beta.py 'search:negascout?depth=5&evaluation=level:6' --run-dir outputs/try

The program looks `--depth` plies ahead and values a position by the stones of both players; of equal moves it takes one
at random. Each pair of matches begins with the same four random plies, with either player first.
"""

import project_environment

import argparse
import random

import numpy as np
import torch
from numba import njit

from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.named_players.make import make_player

WIN = 1000


@njit
def moves(board, width, player):
    """int64[N, 2]: origin and target of all moves, captures first; `board`: 1, -1 or 0 on each square, and player 1
    moves up."""
    found, count = np.empty((6 * width, 2), dtype=np.int64), 0
    for captures in (True, False):
        for origin in range(width * width):
            if board[origin] != player:
                continue
            row, column = origin // width, origin % width
            for side in (-1, 0, 1):
                target = (row - player) * width + column + side
                if not 0 <= column + side < width or board[target] == player:
                    continue
                if captures == (board[target] == -player) and not (captures and side == 0):
                    found[count, 0], found[count, 1] = origin, target
                    count += 1
    return found[:count]


@njit
def value(board, width, player, origin, target, depth, alpha, beta):
    """int64: the value to `player` of a move, by alpha-beta."""
    if target // width == (0 if player == 1 else width - 1):
        return WIN + depth
    board = board.copy()
    board[target], board[origin] = player, 0
    if not (board == -player).any():
        return WIN + depth
    if depth == 1:
        return player * board.sum()
    best = -2 * WIN
    for reply in moves(board, width, -player):
        found = value(board, width, -player, reply[0], reply[1], depth - 1, max(-beta, best), -alpha)
        best = max(best, found)
        if best >= -alpha:
            break
    return -best


def chosen(board, width, player, depth, generator):
    board = np.array(board)
    legal = moves(board, width, player).tolist()
    generator.shuffle(legal)
    best, move = -2 * WIN, legal[0]
    for one in legal:
        found = value(board, width, player, *one, depth, best, 2 * WIN)
        if found > best:
            best, move = found, one
    return move


def won(game, player, seat, depth, seed):
    """Whether `player`, in this seat, wins a match."""
    generator, state = random.Random(seed), game.init()
    actions = {pair: action for action, pair in enumerate(game.pairs)}
    ply = 0
    while not bool(state.terminated[0]):
        mover = int(state.current_player[0])
        legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        if ply < 4:
            action = generator.choice(legal)
        elif mover == seat:
            action = int(player.act(state, Draws(seed, torch.tensor([0]), ply))[0])
        else:
            board = [{1: 1, 2: -1}.get(stone, 0) for stone in stones(game, state)]
            move = chosen(board, game.width, 1 if mover == 0 else -1, depth, generator)
            action = actions[tuple(sorted(move))]
        state = game.step(state, torch.tensor([action]))
        ply += 1
    return (float(state.returns[0]) > 0) == (seat == 0)


def stones(game, state):
    """For each square 1: X, 2: O, 0: empty."""
    (p,) = game.positions(state)
    x, o = (p.own, p.opp) if p.up else (p.opp, p.own)
    return [(int(x) >> square & 1) + 2 * (int(o) >> square & 1) for square in range(game.width**2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("player", help="the name of the player, such as strongest")
    parser.add_argument("--size", type=int, default=8, help="squares along a side (default 8)")
    parser.add_argument("--depth", type=int, default=2, help="plies that the program looks ahead (default 2)")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--run-dir", default="outputs/try")
    options = parser.parse_args()
    game = make_game("breakthrough", options.size)
    player = make_player(options.player, game.name, options.run_dir)
    wins = sum(won(game, player, match % 2, options.depth, match // 2) for match in range(options.matches))
    print(f"{options.player} won {wins} of {options.matches} against alpha-beta at depth {options.depth}")


if __name__ == "__main__":
    with reporting_errors():
        main()
