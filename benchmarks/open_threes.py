"""Count how many open threes of the opponent players stop in set positions of Gomoku, as a Markdown table.

    python benchmarks/open_threes.py hard strongest
    python benchmarks/open_threes.py 'mcts:pretrained?simulations=2000' --game gomoku_15x15 --positions 50

The positions come from moves drawn at random near other stones, with a fixed seed. In each, the opponent threatens to
have two winning crossings after its next move, as by an open three, and the player to move can neither win nor do the
same. It stops the threat with a four, or if the opponent can do so no longer.
"""

import project_environment

import argparse
import random

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay import make_game, make_player
from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import Game

LENGTH, NEAR, FIRST_PLY, LAST_PLY = 5, 2, 6, 40
Board = NDArray[np.int64]
"""[N * N]: 1 for a stone of one player, -1 for one of the other, 0 for an empty crossing."""


def lines_of(side: int) -> Board:
    """[L, 5]: the crossings of each line of five."""
    ways = ((0, 1), (1, 0), (1, 1), (1, -1))
    starts = ((row, column, *way) for row in range(side) for column in range(side) for way in ways)
    reach = LENGTH - 1
    inside = (one for one in starts if one[0] + reach * one[2] < side and 0 <= one[1] + reach * one[3] < side)
    return np.array([[(r + k * down) * side + c + k * right for k in range(LENGTH)] for r, c, down, right in inside])


class Positions:
    """Draws positions on a board with this number of crossings along a side."""

    def __init__(self, side: int) -> None:
        self.side, self.lines = side, lines_of(side)

    def completing(self, board: Board, player: int, stones: int) -> set[int]:
        """The empty crossings of lines with at least this many stones of the player and none of the other."""
        values = board[self.lines]
        found = ((values == player).sum(1) >= stones) & ((values == -player).sum(1) == 0)
        return set(self.lines[found][values[found] == 0].tolist())

    def wins(self, board: Board, player: int) -> set[int]:
        return self.completing(board, player, LENGTH - 1)

    def after(self, board: Board, crossing: int, player: int) -> Board:
        changed = board.copy()
        changed[crossing] = player
        return changed

    def threatens(self, board: Board, player: int) -> bool:
        """Whether after some move of the player there are two crossings at which it wins."""
        moves = self.completing(board, player, LENGTH - 2)
        return any(len(self.wins(self.after(board, move, player), player)) > 1 for move in moves)

    def stops(self, board: Board, player: int) -> set[int]:
        """The moves with which the player has a four, or after which the other threatens no longer."""
        boards = {int(move): self.after(board, move, player) for move in np.flatnonzero(board == 0)}
        return {move for move, new in boards.items() if self.wins(new, player) or not self.threatens(new, -player)}

    def near(self, board: Board) -> list[int]:
        stones, empty = np.flatnonzero(board), np.flatnonzero(board == 0)
        if not len(stones):
            return [len(board) // 2]
        rows, columns = (np.abs(part(empty)[:, None] - part(stones)) for part in (self._row, self._column))
        return empty[(np.maximum(rows, columns) <= NEAR).any(1)].tolist()

    def _row(self, crossings: Board) -> Board:
        return crossings // self.side

    def _column(self, crossings: Board) -> Board:
        return crossings % self.side

    def drawn(self, chance: random.Random) -> tuple[list[int], set[int]]:
        """The moves to a position, and those that stop the threat."""
        while True:
            board, moves, player = np.zeros(self.side**2, dtype=np.int64), list[int](), 1
            for ply in range(LAST_PLY):
                moves.append(chance.choice(self.near(board)))
                board[moves[-1]] = player
                if self.wins(board, player) or self.wins(board, -player):
                    break
                if ply >= FIRST_PLY and self.threatens(board, player):
                    if not self.threatens(board, -player) and (stops := self.stops(board, -player)):
                        return moves, stops
                    break
                player = -player


def stopped(game: Game, player: str, found: list[tuple[list[int], set[int]]]) -> int:
    """The number of these positions in which the player stops the threat."""
    chooses = make_player(player, game)
    count = 0
    for number, (moves, stops) in enumerate(found):
        state = game.follow([torch.tensor([move]) for move in moves])
        draws = Draws(stream_key(0, 0, Activity.MEASUREMENT), torch.tensor([number]), len(moves))
        count += int(chooses.act(state, draws)[0]) in stops
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", metavar="PLAYER")
    parser.add_argument("--game", default="gomoku", help="gomoku, gomoku_15x15 or another board")
    parser.add_argument("--positions", type=int, default=200)
    options = parser.parse_args()
    game, chance = make_game(options.game), random.Random(0)
    positions = Positions(game.observation_shape[-1])
    found = [positions.drawn(chance) for _ in range(options.positions)]
    print(f"| {options.game} | stops, of {len(found)} |\n|---|---:|", flush=True)
    for player in options.players:
        print(f"| `{player}` | {stopped(game, player, found)} |", flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
