"""The files of the WTHOR database of Othello matches (.wtb), read as whole arrays.

Fédération Française d'Othello, "Format de la base WTHOR": 16 bytes at the start, then 68 bytes for each match: the
numbers of its tournament and players, the discs of black at the end, and 60 moves, each 10 * row + column, and 0 after
the last one. Passes are not written. All numbers are little-endian.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.games import Game
from selfplay.games.state import MATCH_OVER
from selfplay.names_of_games import parts_of_game_name
from selfplay.records.written import WrittenMoves

HEADER = np.dtype(
    [
        *(("century", "u1"), ("year_of_century", "u1"), ("month", "u1"), ("day", "u1")),
        *(("matches", "<u4"), ("records", "<u2"), ("year", "<u2")),
        *(("width", "u1"), ("kind", "u1"), ("depth", "u1"), ("reserved", "u1")),
    ]
)
MATCH = np.dtype(
    [
        *(("tournament", "<u2"), ("black", "<u2"), ("white", "<u2"), ("discs", "u1"), ("theoretical", "u1")),
        ("moves", "u1", (60,)),
    ]
)
GAME = "othello"
USUAL_WIDTH = 8


class WthorFile:
    """The matches of one file."""

    def __init__(self, content: bytes, game: Game) -> None:
        """Raises ValueError, with the reason, if this is not such a file, or one of another game or board."""
        if len(content) < HEADER.itemsize:
            raise ValueError("is not a WTHOR file: it is shorter than the start of one")
        (header,) = np.frombuffer(content[: HEADER.itemsize], HEADER)
        width, count = int(header["width"]) or USUAL_WIDTH, int(header["matches"])
        if parts_of_game_name(game.name).base != GAME or game.board_shape != (width, width):
            raise ValueError(f"has matches of Othello on {width}x{width} squares, not of {game.name}")
        found = len(content) - HEADER.itemsize
        if found != count * MATCH.itemsize:
            raise ValueError(
                f"is not a whole WTHOR file: {count} matches need {count * MATCH.itemsize} bytes, not {found}"
            )
        self.width, self.matches = width, np.frombuffer(content, MATCH, offset=HEADER.itemsize)

    def __len__(self) -> int:
        return len(self.matches)

    def moves(self, numbers: slice) -> WrittenMoves:
        """The matches with these numbers."""
        matches = self.matches[numbers]
        lead = 2.0 * matches["discs"] - self.width**2
        points = torch.from_numpy(lead)
        return WrittenMoves(torch.from_numpy(self._actions(matches["moves"])), torch.sign(points).float(), points)

    def _actions(self, written: NDArray[np.uint8]) -> NDArray[np.int64]:
        """int64[N, 60]: moves as actions; a square off the board as the number after the last action."""
        row, column = np.divmod(written.astype(np.int64), 10)
        on_board = (row >= 1) & (row <= self.width) & (column >= 1) & (column <= self.width)
        actions = np.where(on_board, self.width * (row - 1) + column - 1, self.width**2 + 1)
        # A 0 before another move is a square off the board.
        is_move = np.logical_or.accumulate(written[:, ::-1] > 0, axis=1)[:, ::-1]
        return np.where(is_move, actions, MATCH_OVER)
