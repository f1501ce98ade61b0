"""Othello (Reversi) on 8x8 squares, and on 6x6 and 4x4, which can be solved.

Bit `width * row + column` of a word is the square in that column and row: a1 is bit 0, b1 bit 1, and h8 bit 63.

      a  b  c  d  e  f  g  h
    1 0  1  2  3  4  5  6  7
    2 8  9 10 11 12 13 14 15
    3 ...

Player 0 is black, player 1 is white. Action i places a disc on square i; the action after the last square is a pass,
legal when, and only when, no disc can be placed. The match is over when neither player can place one, and the
player with more discs has won.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.othello_features import neighbourhood, othello_features
from selfplay.games.rules import Rules, Symmetries, TurningRules
from selfplay.games.state import State

COLUMNS = "abcdefgh"
DISCS = {"X": 1, "O": -1, "-": 0}
"""What the signs of a written board stand for: black, white, empty."""


@rule
def _ends_of_runs(own: Word, between: Word, step: Word) -> Word:
    """The squares one beyond the runs of `between` that begin beside `own`, both ways along a line. Runs up to 6."""
    up, down = between & (own << step), between & (own >> step)
    up, down = up | (between & (up << step)), down | (between & (down >> step))
    pairs = between & (between << step)
    pairs_down = pairs >> step
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    return (up << step) | (down >> step)


@rule
def _flanked_runs(own: Word, between: Word, move: Word, step: Word) -> Word:
    """The runs of `between` from `move` to a square of `own`, both ways along a line. Runs up to 6."""
    up, down = between & (move << step), between & (move >> step)
    up, down = up | (between & (up << step)), down | (between & (down >> step))
    pairs = between & (between << step)
    pairs_down = pairs >> step
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    return up * (((up << step) & own) != 0) | down * (((down >> step) & own) != 0)


def _inner_squares(width: int) -> tuple[int, int, int]:
    """Where discs can be flanked along a row, along a column and along a diagonal.

    A disc that is flanked has a neighbour on both sides, so runs of such discs keep off the edges across their line.
    That also keeps runs from wrapping around an edge, and clears the copies of the sign bit that >> drags in.
    """
    inner = range(1, width - 1)
    along_row = word_of(width * row + column for row in range(width) for column in inner)
    along_column = word_of(width * row + column for row in inner for column in range(width))
    return along_row, along_column, along_row & along_column


@cache
def turning_rules(width: int) -> TurningRules:
    """How discs are turned on a board of `width` (4, 6 or 8) times `width` squares."""
    along_row, along_column, along_diagonal = _inner_squares(width)
    board = word_of(range(width * width))
    half = width // 2
    low, high = range(half), range(half, width)
    first, second, third, fourth = (
        word_of(width * row + column for row in rows for column in columns)
        for rows in (low, high)
        for columns in (low, high)
    )

    @rule
    def flips(own: Word, opp: Word, move: Word) -> Word:
        """The discs that are turned when `move` is played; none for a pass."""
        turned = _flanked_runs(own, opp & along_row, move, 1)
        turned = turned | _flanked_runs(own, opp & along_column, move, width)
        turned = turned | _flanked_runs(own, opp & along_diagonal, move, width - 1)
        return turned | _flanked_runs(own, opp & along_diagonal, move, width + 1)

    corners = word_of([0, width - 1, width * (width - 1), width * width - 1])
    return TurningRules(flips, neighbourhood(width), board, corners, (first, second, third, fourth))


@cache
def othello_rules(width: int) -> Rules:
    """The rules on a board of `width` (4, 6 or 8) times `width` squares."""
    size = width * width
    along_row, along_column, along_diagonal = _inner_squares(width)
    board = word_of(range(size))
    flips = turning_rules(width).flips

    @rule
    def legal_actions(own: Word, opp: Word) -> Word:
        """The empty squares from which a run of the other's discs leads to a disc of one's own."""
        places = _ends_of_runs(own, opp & along_row, 1)
        places = places | _ends_of_runs(own, opp & along_column, width)
        places = places | _ends_of_runs(own, opp & along_diagonal, width - 1)
        places = places | _ends_of_runs(own, opp & along_diagonal, width + 1)
        return places & ~(own | opp) & board

    @rule
    def play(own: Word, opp: Word, move: Word) -> tuple[Word, Word]:
        """Place a disc, turn the flanked ones; a pass changes nothing. Then it is the other's turn."""
        turned = flips(own, opp, move)
        return opp & ~turned, own | move | turned

    @rule
    def is_terminal(own: Word, opp: Word) -> Word:
        """Neither can place a disc."""
        return (legal_actions(own, opp) | legal_actions(opp, own)) == 0

    @rule
    def margin(own: Word, opp: Word) -> Word:
        """Discs."""
        return bit_count(own) - bit_count(opp)

    @rule
    def return_to_move(own: Word, opp: Word) -> Word:
        """More discs win."""
        lead = margin(own, opp)
        return (lead > 0) * 1 - (lead < 0) * 1

    @rule
    def observation_entry(own: Word, opp: Word, index: Word) -> Word:
        """Channel 0: the discs of the player who has just moved; channel 1: those of the player to move."""
        second = (index >= size) * 1
        square = index - second * size
        return (((opp >> square) & (1 - second)) | ((own >> square) & second)) & 1

    row = width // 2 - 1
    black = word_of([width * row + row + 1, width * (row + 1) + row])
    white = word_of([width * row + row, width * (row + 1) + row + 1])
    return Rules((black, white), legal_actions, play, is_terminal, return_to_move, observation_entry, margin)


class Othello(Game):
    """Othello on 8x8 squares, black first."""

    name = "othello"
    title = "Othello"
    aim = "Enclose discs of the other colour between two of yours to turn them; most discs at the end win."
    stone_colours = ("black", "white")
    width = 8
    player_names = ("black", "white")

    def __init__(self) -> None:
        squares = self.width * self.width
        self.rules = othello_rules(self.width)
        self.features = othello_features(self.width, self.rules.legal_actions)
        self.turning_rules = turning_rules(self.width)
        self.pass_action = squares
        self.num_distinct_actions = squares + 1
        self.observation_shape = (2, self.width, self.width)
        self.max_game_length = 2 * (squares - 4)  # never two passes without a disc between them
        self.action_help = f"a square from a1 to {self.action_to_string(squares - 1)}, or pass"

    @property
    def symmetries(self) -> Symmetries:
        """The four that leave the start as it is: identity, half turn, and mirroring in either diagonal."""
        board = np.arange(self.width * self.width).reshape(self.width, self.width)
        half_turn = np.rot90(board, 2)
        sources = np.stack([b.reshape(-1) for b in (board, half_turn, board.T, half_turn.T)])
        passing = np.full((4, 1), self.pass_action)
        actions = np.concatenate([np.argsort(sources, axis=1), passing], axis=1)
        return Symmetries(actions, np.concatenate([sources, sources + board.size], axis=1))

    def action_to_string(self, action: int) -> str:
        if action == self.pass_action:
            return "pass"
        return f"{COLUMNS[action % self.width]}{action // self.width + 1}"

    def string_to_action(self, text: str) -> int:
        name = text.strip().lower()
        if name == "pass":
            return self.width * self.width
        columns, rows = COLUMNS[: self.width], "12345678"[: self.width]
        if len(name) != 2 or name[0] not in columns or name[1] not in rows:
            raise IllegalActionError(f"{text!r} names no square; write {self.action_help}")
        return self.width * rows.index(name[1]) + columns.index(name[0])

    def to_string(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        signs = {number: sign for sign, number in DISCS.items()} | {0: "."}
        cells = [signs[disc] for disc in self.squares(state.select(torch.tensor([row])))[0].tolist()]
        size = 1
        if values is not None:
            shown = [f"{value:+.2f}" if np.isfinite(value) else "" for value in values]
            size = max(map(len, shown))
            cells = [value or cell for value, cell in zip(shown, cells, strict=False)]
        lines = [" ".join(["  ", *(column.center(size) for column in COLUMNS[: self.width])])]
        for number in range(self.width):
            across = cells[self.width * number : self.width * (number + 1)]
            lines.append(" ".join([f"{number + 1:2d}", *(cell.center(size) for cell in across)]))
        black, white = self.disc_counts(state)[row].tolist()
        return "\n".join(line.rstrip() for line in [*lines, f"black (X) {black}, white (O) {white}"])

    def disc_counts(self, state: State) -> Tensor:
        """int64[B, 2]: the discs of black and of white."""
        discs = self.squares(state)
        return torch.stack([(discs == 1).sum(dim=1), (discs == -1).sum(dim=1)], dim=1)

    def read_board(self, board: str, side: str) -> State:
        """The position drawn as one sign a square, from a1 along the rows: X black, O white, - empty.

        Args:
            side: X or O, who is to move.

        Raises:
            IllegalActionError: other signs, another number of them, or another side.
        """
        squares = self.width * self.width
        if len(board) != squares or not set(board) <= set(DISCS):
            wrong = sorted(set(board) - set(DISCS))
            reason = f"it has {wrong[0]!r}" if wrong else f"it has {len(board)} signs"
            raise IllegalActionError(f"{self.name}: a board is {squares} signs of X, O and -; {reason}")
        if side not in ("X", "O"):
            raise IllegalActionError(f"{self.name}: the side to move is X or O, not {side!r}")
        black, white = (word_of(i for i, sign in enumerate(board) if sign == disc) for disc in "XO")
        own, opp = (black, white) if side == "X" else (white, black)
        state = self.state_at(torch.tensor([own]), torch.tensor([opp]))
        if side == "X":
            return state
        return state._replace(current_player=torch.tensor([1], dtype=torch.int8), returns=0.0 - state.returns)

    def write_board(self, state: State, row: int = 0) -> str:
        """Match `row` as `read_board` takes it."""
        signs = {number: sign for sign, number in DISCS.items()}
        return "".join(signs[disc] for disc in self.squares(state.select(torch.tensor([row])))[0].tolist())

    def read_transcript(self, text: str) -> list[int]:
        """The actions of a transcript like f5d6c3, from the start of a match; passes may be left out.

        Raises IllegalActionError at the first square that is none, or that cannot be played there.
        """
        squares = "".join(text.split())
        state, actions = self.init(), list[int]()
        for number, start in enumerate(range(0, len(squares), 2), start=1):
            try:
                action = self.string_to_action(squares[start : start + 2])
                mask = self.legal_action_mask(state)[0]
                if mask[self.width * self.width]:
                    actions.append(self.width * self.width)
                    state = self.step(state, torch.tensor(actions[-1:]))
                state = self.step(state, torch.tensor([action]))
            except IllegalActionError as error:
                raise IllegalActionError(f"transcript, disc {number}: {error}") from error
            actions.append(action)
        return actions

    def write_transcript(self, actions: Iterable[int]) -> str:
        """The squares in the order in which they are played, without the passes, which follow from the rules."""
        return "".join(self.action_to_string(action) for action in actions if action != self.pass_action)


class Othello6x6(Othello):
    """Othello on 6x6 squares. White wins by 4 (Feinstein, 1993)."""

    name = "othello_6x6"
    title = "Othello 6x6"
    width = 6


class Othello4x4(Othello):
    """Othello on 4x4 squares. White wins by 8: 11 discs to 3."""

    name = "othello_4x4"
    title = "Othello 4x4"
    width = 4
