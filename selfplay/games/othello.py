"""Othello (Reversi) on 8x8 squares, and on 6x6 and 4x4, which can be solved.

Bit `width * row + column` of a word is the square in that column and row: a1 is bit 0, b1 bit 1, and h8 bit 63.

      a  b  c  d  e  f  g  h
    1 0  1  2  3  4  5  6  7
    2 8  9 10 11 12 13 14 15
    3 ...

Player 0 is black, player 1 is white. Action i places a disc on square i; the action after the last square is a pass,
legal if and only if no disc can be placed. The match is over when neither player can place one, and the player with
more discs wins.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import word_of
from selfplay.compute.positions import packed_array
from selfplay.errors import BrokenTranscriptError, IllegalActionError, shortened
from selfplay.games.board_checks import check_connected
from selfplay.games.game import Game
from selfplay.games.move_texts import without_move_numbers
from selfplay.games.othello_features import othello_features
from selfplay.games.othello_records import DISCS, board_signs, is_ggf, opening_name, read_ggf, written_board
from selfplay.games.othello_rules import othello_rules, turning_rules
from selfplay.games.presentation import LEGAL, Presentation
from selfplay.games.rules import Symmetries
from selfplay.games.state import State

COLUMNS = "abcdefgh"
PASS_TEXTS = "pass", "pa", "ps", "--"
"""What people and programs write for a pass, in lower case."""
MOVE = re.compile(f"{'|'.join(PASS_TEXTS)}|..?")
"""A pass or a square of a transcript without spaces; its last sign may stand alone."""


class OthelloPresentation(Presentation):
    aim = "Enclose discs of the other colour between two of yours to turn them; most discs at the end win."
    stone_colours = ("black", "white")
    player_names = ("black", "white")
    point_name = "discs"
    why_illegal = "A disc has to enclose and turn at least one of the other colour."
    how_to_play = (
        "Black moves first, from four discs in the middle.",
        "A move places a disc on an empty square. In at least one direction (straight or diagonal), discs of the other "
        "colour without a gap must lie between it and another disc of yours.",
        "All discs that are enclosed in this way turn to your colour, in every direction.",
        "If you can place a disc, you must; if you cannot, you pass.",
        "The match ends when neither player can place a disc, usually on a full board.",
        "With equal numbers of discs it is a draw.",
        "In the final score, squares that are still empty count for the winner.",
    )

    def __init__(self, game: "Othello") -> None:
        self.game: Othello = game
        # Around the centre, so that it is the same on every board.
        first, *others = (
            f"{COLUMNS[game.width // 2 + right]}{game.width // 2 + 1 + down}"
            for right, down in ((1, 0), (-1, 1), (-2, -2), (-1, -2), (-2, -1))
        )
        self.example = first + "".join(others)
        self.example_caption = f"Black has just played {others[-1]} (dot). The disc with a ring has turned to black."
        self.column_names = COLUMNS[: game.width]
        self.title = "Othello" if game.width == 8 else f"Othello {game.width}x{game.width}"
        self.action_help = f"a square from a1 to {game.action_to_string(game.width * game.width - 1)}, or pass"

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Values are shown on the squares of their actions."""
        return super().board_text(state, row, None if values is None else values[: self.game.pass_action])

    def board_text_with_actions(self, state: State, row: int = 0) -> str:
        """The legal squares are marked with LEGAL."""
        cells = self.stone_signs(state, row)
        for square in self.marked_squares(state, row):
            cells[square] = LEGAL
        return "\n".join([*self.board_lines(cells), f"{self.caption(state, row)}; {LEGAL} legal"])

    def marked_squares(self, state: State, row: int = 0) -> list[int]:
        """The squares on which a disc can be placed."""
        mask = self.game.legal_action_mask(state)[row, : self.game.pass_action]
        return [int(square) for square in mask.nonzero()]

    def opening(self, actions: Sequence[int]) -> str | None:
        return opening_name(actions) if self.game.width == 8 else None


class Othello(Game):
    """Othello on `width` x `width` squares, black first.

    White wins by 4 on 6x6 squares (Feinstein, 1993), and by 10 on 4x4: 11 discs to 3, with two squares empty.
    """

    name = "othello"
    sizes = (8, 6, 4)
    presentation_class = OthelloPresentation
    exact_solver = "discs"
    usual_evaluation = "article"

    def __init__(self, width: int = 8) -> None:
        self.width = width
        self.name = self.name_with(self.name, width)
        squares = width * width
        self.rules = othello_rules(self.width)
        self.features = othello_features(self.width)
        self.turning_rules = turning_rules(self.width)
        self.pass_action = squares
        self.num_distinct_actions = squares + 1
        self.observation_shape = (2, self.width, self.width)
        self.max_game_length = 2 * (squares - 4)  # two passes never follow each other

    @property
    def symmetries(self) -> Symmetries:
        """The four that preserve the initial position: identity, half turn, and reflection in either diagonal."""
        board, half_turn = self.square_numbers, np.rot90(self.square_numbers, 2)
        return self.symmetries_of([board, half_turn, board.T, half_turn.T])

    def action_to_string(self, action: int) -> str:
        if action == self.pass_action:
            return PASS_TEXTS[0]
        return f"{COLUMNS[action % self.width]}{action // self.width + 1}"

    def other_texts(self, action: int) -> Iterable[str]:
        return PASS_TEXTS if action == self.pass_action else ()

    def read_board(self, board: str, side: str) -> State:
        """Read a position written as one character per square, from a1 along the rows: X black, O white, - empty.

        Small letters, spaces, * for black and . for an empty square are accepted too.

        Args:
            side: the player to move, X or O.

        Raises:
            IllegalActionError: `board` has a wrong character or length, or `side` is neither X nor O.
        """
        squares, board = self.width * self.width, board_signs(board)
        if len(board) != squares or not set(board) <= set(DISCS):
            wrong = sorted(set(board) - set(DISCS))
            reason = f"it has {wrong[0]!r}" if wrong else f"it has {len(board)} signs"
            raise IllegalActionError(f"{self.name}: a board is {squares} signs of X, O and -; {reason}")
        if board_signs(side) not in ("X", "O"):
            raise IllegalActionError(f"{self.name}: the side to move is X or O, not {shortened(side)!r}")
        to_move = "XO".index(board_signs(side))
        own, opp = (
            word_of(i for i, sign in enumerate(board) if sign == "XO"[player]) for player in (to_move, 1 - to_move)
        )
        state = self.state_at(torch.from_numpy(packed_array([self.rules.position(own, opp)])))
        if to_move == 0:
            return state
        return state._replace(current_player=torch.tensor([1], dtype=torch.int8), returns=0.0 - state.returns)

    def position_after(self, transcript: str) -> State:
        """As in every game; instead of a transcript also a board with the side to move, as `written_board` reads it."""
        board = written_board(transcript)
        return super().position_after(transcript) if board is None else self.read_board(*board)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        middle = self.width * (self.width // 2 - 1) + self.width // 2 - 1
        shape = (self.width, self.width)
        check_connected(squares, shape, (middle, middle + 1, middle + self.width, middle + self.width + 1))

    def read_transcript(self, text: str, start: State | None = None) -> list[int]:
        """Read the actions of a transcript such as f5d6c3, or of a match in the Generic Game Format (GGF).

        Passes may be omitted, and are ignored after the end of the match.

        Raises IllegalActionError at the first text that is not a square or a pass, or cannot be played. It is also
        raised if the match was written for another position, board or game, or gives a move to the wrong player.
        """
        state, actions, moves = self.init() if start is None else start, list[int](), self._moves_of(text)
        if is_ggf(text) and not _is_same(self.start_of_transcript(text) or self.init(), state):
            raise IllegalActionError("the transcript begins in another position (BO) than this match")
        passing, discs = self.width * self.width, 0
        for player, move in moves:
            try:
                action, legal = self.string_to_action(move), self.legal_action_mask(state)[0]
                if legal[passing] and action != passing:
                    actions.append(passing)
                    state = self.step_unchecked(state, torch.tensor(actions[-1:]))
                    legal = self.legal_action_mask(state)[0]
                if bool(state.terminated):
                    if action == passing:
                        continue
                    raise IllegalActionError("the match is over before it")
                if player is not None and player != int(state.current_player):
                    raise IllegalActionError(f"{move} is not the move of {self.presentation.player_names[player]}")
                step = self.step_unchecked if legal[action] else self.step
                state = step(state, torch.tensor([action]))
            except IllegalActionError as error:
                place = f"pass after disc {discs}" if move in PASS_TEXTS else f"disc {discs + 1}"
                raise BrokenTranscriptError(f"transcript, {place}: {error}", actions) from error
            actions.append(action)
            discs += action != passing
        return actions

    def _moves_of(self, text: str) -> Sequence[tuple[int | None, str]]:
        """The squares and passes of a transcript, each with the player who it says has made this move."""
        if is_ggf(text):
            return read_ggf(text, self.width).moves
        return [(None, move) for move in MOVE.findall("".join(without_move_numbers(text).lower().split()))]

    def written_moves(self, text: str, start: State | None = None) -> list[tuple[int | None, int]]:
        return [(player, self.string_to_action(move)) for player, move in self._moves_of(text)]

    def start_of_transcript(self, text: str) -> State | None:
        """The position of a match in GGF, unless it is the usual one."""
        if not is_ggf(text):
            return None
        match = read_ggf(text, self.width)
        start = self.set_up(match.squares, match.to_move)
        return None if _is_same(start, self.init()) else start

    def write_transcript(self, actions: Iterable[int]) -> str:
        """The squares in the order they are played, without passes, which follow from the rules."""
        return "".join(self.action_to_string(action) for action in actions if action != self.pass_action)


def _is_same(one: State, other: State) -> bool:
    """Whether two positions (B = 1) have the same board and player to move."""
    return all(torch.equal(*fields) for fields in zip(one[:2], other[:2], strict=True))
