"""How a game is shown to people, apart from its rules."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.action_names import squares_in_words
from selfplay.games.board_squares import BoardSquares
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

SIGNS = {1: "X", -1: "O", 0: "."}
LEGAL = "*"
LINE_WIDTH = 100
GAP = "    "


class PositionLine(NamedTuple):
    """The number line of a game whose position is a single number, such as a sum."""

    label: str
    """What the number means, used as the label of an axis."""
    place: Callable[[State], Tensor]
    """The number of each position of a state: int64[B]."""
    end: int | None = None
    """The number at which a match that began at 0 ends; None if there is no such number."""


def _usual_title(game: BatchStepping) -> str:
    return game.own_name or game.name


def _in_words(value: int | tuple[int, ...]) -> str:
    """The value of a field of a position."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(int(value))


class Presentation(BoardSquares):
    """The texts and the board with which a game is shown. Everything has a default that a game may override.

    Attributes:
        game: the game that is shown.
        title: what people call the game; by default the name that its class gives it.
        action_help: how a person writes an action; the range from the first to the last action by default.
    """

    title: str = ""
    aim: str = ""
    """What a player has to achieve, in one sentence for people who do not know the game."""
    how_to_play: tuple[str, ...] = ()
    """The rules in four to eight short sentences: how to move, and how a match ends. The page shows them between `aim`
    and `action_help`, which they do not repeat."""
    example: str = ""
    """The moves of a match, as `write_transcript` writes them, whose last position is the picture of the rules; empty:
    the start."""
    example_caption: str = "The start of a match."
    """What the picture shows, in one sentence."""
    action_help: str = ""
    player_names: tuple[str, str] = ("first", "second")
    """The names of the player who moves first and of the other."""
    edge_names: tuple[str, str] | None = None
    """A character for each row and for each column, in games whose `board_text` does not show them."""
    point_name: str = "points"
    lead_counts_from: float = 0.0
    """The share of the squares that have stones when the lead of a position begins to mean something; until then, and
    before the match is over, it is not shown."""
    option_names: Mapping[str, str] = MappingProxyType({})
    """What people call the parameters of the game that they may choose for a match, by the name of the parameter."""
    stone_colours: tuple[str, str] | None = None
    """The colours of both players' stones if they are discs: black, white, red or yellow.

    None if stones are drawn as the signs in `player_names`.
    """
    why_illegal: str = ""
    """Why a stone may not be placed on an empty square, apart from ko, in a sentence; empty: every empty square is
    legal."""
    position_line: PositionLine | None = None
    """The number line of the positions, if there is one: figures then show the value of each position on it."""

    def __init__(self, game: BatchStepping) -> None:
        self.game = game
        self.title = self.title or _usual_title(game)
        if not self.action_help:
            texts = (game.action_to_string(action) for action in (0, game.num_distinct_actions - 1))
            self.action_help = "an action from {} to {}".format(*texts)

    def say_whose_texts(self, other: "Presentation", name: str) -> None:
        """Say which texts are those of another game, with other rules, from which this one is derived.

        other: the presentation of the game that is called `name` if it has no title; its texts may be in use here.
        """
        usual = _usual_title(self.game)
        title = name if other.title == usual else other.title
        if self.title == other.title:
            self.title = usual
        if self.aim == other.aim:
            self.aim = f"Derived from {title}, with other rules."
        if self.how_to_play == other.how_to_play != ():
            self.how_to_play = (f"This is how {title} is played:", *filter(None, [other.aim]), *other.how_to_play)
        if self.example == other.example:
            self.example, self.example_caption = "", Presentation.example_caption

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Match `row` of `state` drawn as text, one line per board row, without a newline at the end.

        By default the stones are drawn as X and O with the names of rows and columns, marks as letters; without a
        board, the fields of the position as numbers.
        The value of an action is in the square that chooses it, or below the board; the last line is the caption.

        Args:
            values: float32[A], the value to show of each legal action; nan where illegal.
        """
        shown = [] if values is None else [(a, value) for a, value in enumerate(values.tolist()) if np.isfinite(value)]
        actions = [action for action, _ in shown]
        names = self.action_names(state, [row] * len(actions), actions)
        texts = {action: f"{name} {value:+.2f}" for name, (action, value) in zip(names, shown, strict=True)}
        if self.game.board_shape is None:
            fields_text = self._fields_text(state, row, self.game.rules.position._fields)
            return "\n".join(filter(None, [fields_text, *texts.values(), self.caption(state, row)]))
        cells, values_of = self.square_signs(state, row), dict(shown)
        squares = self.squares_of_values(state.select(torch.tensor([row])), [*values_of])
        for action, square in squares.items():
            cells[square] = f"{values_of[action]:+.2f}"
            del texts[action]
        return "\n".join(filter(None, [*self.board_lines(cells), *texts.values(), self.caption(state, row)]))

    def board_lines(self, cells: Sequence[str]) -> list[str]:
        """The lines of a board with these texts in its squares, and the names of columns and rows at its edges."""
        width, size = self.game.observation_shape[2], max(map(len, cells))
        rows = [[cell.center(size) for cell in cells[start : start + width]] for start in range(0, len(cells), width)]
        names, numbers = self.edge_texts
        lines = [["  ", *(name.center(size) for name in names)]]
        lines += [[f"{number:>2}", *row] for number, row in zip(numbers, rows, strict=True)]
        # In a rhombus, each row begins half a cell further to the right.
        indents = [round((size + 1) / 2 * number) if self.is_rhombus else 0 for number in range(len(lines))]
        return [(" " * indent + " ".join(line)).rstrip() for indent, line in zip(indents, lines, strict=True)]

    def board_text_with_actions(self, state: State, row: int = 0) -> str:
        """`board_text` with the `marked_squares`, for a person to choose an action; by default without marks."""
        return self.board_text(state, row)

    def caption(self, state: State, row: int = 0) -> str:
        """A line below the board of match `row`: by default the points or the lead in points, what the marks mean that
        are on the board, and the numbers of the position."""
        texts = self.points_text(state, row), self.legend(state, row), self.numbers_text(state, row)
        return "; ".join(filter(None, texts))

    def legend(self, state: State, row: int = 0) -> str:
        """What the letters of marks mean that are on the board of match `row`; empty for lines and discs."""
        if self.game.num_squares is None or self.draws_lines or self.stone_colours is not None:
            return ""
        used = int(np.bitwise_or.reduce(self.marks(state.select(torch.tensor([row])))[0].numpy()))
        shown = zip(self.mark_signs, self.shown_marks.values(), strict=True)
        return ", ".join(f"{sign} {text}" for number, (sign, text) in enumerate(shown) if used >> number & 1)

    def numbers_text(self, state: State, row: int = 0) -> str:
        """What the board of match `row` does not show: by default the numbers of its position, seen by the player to
        move; empty in a game without a board, where all fields are shown in its place."""
        return "" if self.game.num_squares is None else self._fields_text(state, row, self.shown_numbers)

    @property
    def shown_numbers(self) -> list[str]:
        """The fields of positions that are numbers, in a game with a board."""
        return [
            place.name
            for place in self.game.rules.position.places
            if not place.is_board and place.name not in self.hidden_fields
        ]

    def _fields_text(self, state: State, row: int, names: Iterable[str]) -> str:
        (position,) = self.game.positions(state.select(torch.tensor([row])))
        return ", ".join(f"{name.replace('_', ' ')} {_in_words(getattr(position, name))}" for name in names)

    def points_text(self, state: State, row: int = 0) -> str:
        """The points of match `row`, or the lead in points, in a game that counts them, otherwise empty."""
        one, rules = state.select(torch.tensor([row])), self.game.rules
        if (points := self.game.points(one)) is not None:
            return ", ".join(f"{self.name_with_sign(seat)} {points[0, seat]:g}" for seat in (0, 1))
        if rules.margin is None or rules.owned is not None:
            return ""
        lead = float(self.game.lead_to_move(one)) * (1 - 2 * int(one.current_player))
        return f"{self.player_names[int(lead < 0)]} leads by {abs(lead):g}" if lead else f"equal in {self.point_name}"

    def lead_counts(self, state: State) -> bool:
        """Whether the lead in a position (B = 1) means something, see `lead_counts_from`."""
        stones = 0 if self.game.num_squares is None else int((self.game.squares(state) != 0).sum())
        return bool(state.terminated) or stones >= self.lead_counts_from * (self.game.num_squares or 0)

    def why_not(self, state: State, action: int) -> str | None:
        """Why an action is not legal in a position (B = 1) by what is on its squares, as a clause such as "it is
        occupied"; None where they do not tell."""
        pointed, squares = list(self.pointed_squares(action)), range(self.game.num_squares or 0)
        if not self.game.has_stones or not pointed or not all(square in squares for square in pointed):
            return None
        stones, contents = (board[0][pointed] for board in (self.game.squares(state), self.contents(state)))
        seat = int(state.current_player)
        if self.moves_stones:
            is_own = bool((stones == 1 - 2 * seat).any())
            return None if is_own or len(pointed) == 1 else f"it moves no stone of {self.player_names[seat]}"
        if bool((contents != 0).all()):
            return (
                "the line is drawn already"
                if self.draws_lines
                else f"it is {'occupied' if len(pointed) == 1 else 'full'}"
            )
        if len(pointed) == 1 and self.ko(state) == pointed[0]:
            return "the position would repeat (ko)"
        clause = self.why_illegal.removesuffix(".")
        return clause[:1].lower() + clause[1:] or None

    def line_text(self, actions: Sequence[int]) -> str:
        """The boards of a match after each of `actions`, side by side, each headed by its action."""
        state = self.game.init()
        columns: list[list[str]] = []
        for number, action in enumerate(actions, start=1):
            text = self.action_name(state, action)
            state = self.game.step(state, torch.tensor([action]))
            columns.append([f"{number}. {text}", *self.board_text(state).splitlines()])
        width = max((len(text) for column in columns for text in column), default=0)
        per_row = max(1, (LINE_WIDTH + len(GAP)) // (width + len(GAP)))
        rows = []
        for start in range(0, len(columns), per_row):
            texts = zip_longest(*columns[start : start + per_row], fillvalue="")
            rows.append("\n".join(GAP.join(f"{text:{width}}" for text in line).rstrip() for line in texts))
        return "\n\n".join(rows)

    def stone_signs(self, state: State, row: int = 0) -> list[str]:
        """The squares of match `row` in C order: X for a stone of player 0, O for one of player 1, "." if empty."""
        return [SIGNS[stone] for stone in self.game.squares(state.select(torch.tensor([row])))[0].tolist()]

    def square_signs(self, state: State, row: int = 0) -> list[str]:
        """The texts of the squares of match `row` in C order: by default stones and the letters of marks, nothing on
        squares that do not belong to the board."""
        marks = self.marks(state.select(torch.tensor([row])))[0].tolist()
        signs = [
            sign if mark == 0 else sign.replace(SIGNS[0], "") + self.signs_of_mark(mark)
            for sign, mark in zip(self.stone_signs(state, row), marks, strict=True)
        ]
        return [" " if i in self.unused_squares and sign == SIGNS[0] else sign for i, sign in enumerate(signs)]

    def name_with_sign(self, player: int) -> str:
        """The name of player 0 or 1, with the sign of its stones in `board_text` if this is another: "red (X)"."""
        name, sign = self.player_names[player], SIGNS[1 - 2 * player]
        return name if name == sign or not self.game.has_stones else f"{name} ({sign})"

    def action_in_words(self, action: int) -> str:
        """The name of an action in range(A) within a sentence; its text by default."""
        return self.game.action_to_string(action)

    def action_names(self, states: State, rows: Sequence[int], actions: Sequence[int]) -> list[str]:
        """What people read of legal actions, each in the match of its row.

        It is the text of the action or, where that is only a number, the squares that the action changes, and the
        number too if another one of these actions in the same match changes the same squares.
        """
        seats = states.current_player.tolist()
        texts = [self.game.action_text(action, seats[row]) for row, action in zip(rows, actions, strict=True)]
        if not self.names_squares or not actions:
            return texts
        squares = squares_in_words(self, *self._boards(states.select(torch.tensor(rows)), torch.tensor(actions)))
        times = Counter(zip(rows, squares, strict=True))
        return [
            (name if times[row, name] == 1 else f"{name} ({text})") if name else text
            for row, name, text in zip(rows, squares, texts, strict=True)
        ]

    def legal_names(self, state: State) -> dict[int, str]:
        """What people read of each legal action of a match (B = 1)."""
        legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        return dict(zip(legal, self.action_names(state, [0] * len(legal), legal), strict=True))

    def action_name(self, state: State, action: int) -> str:
        """What people read of an action in a match (B = 1); its text if it is not legal there."""
        text = self.game.action_text(action, int(state.current_player))
        return self.legal_names(state).get(action, text) if self.names_squares else text

    def action_in_sentence(self, state: State, action: int) -> str:
        """`action_in_words`; without words, its `action_name` in a match (B = 1)."""
        words = self.action_in_words(action)
        return self.action_name(state, action) if words == self.game.action_to_string(action) else words

    def line_names(self, actions: Iterable[int], start: State) -> list[str]:
        """What people read of actions that are taken one after the other from a position (B = 1)."""
        names, state = list[str](), start
        for action in actions:
            names.append(self.action_name(state, action))
            state = self.game.step_unchecked(state, torch.tensor([action]))
        return names

    def action_written_like(self, action: int, example: str) -> str:
        """The text of an action in range(A), in the notation of `example` if the game has several; else as usual."""
        return self.game.action_to_string(action)

    def opening(self, actions: Sequence[int]) -> str | None:
        """The name of the opening with which a match begins; None if it has none, as by default."""
        return None
