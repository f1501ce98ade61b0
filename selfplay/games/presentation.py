"""How a game is shown to people, apart from its rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product, zip_longest
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

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


class Presentation:
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
    column_names: str = ""
    """A character for each column of the board, if the columns have names."""
    row_names: Sequence[str] = ""
    """A name for each row from the top, with `column_names`; empty: they are numbered from 1."""
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
    moves_stones: bool = False
    """Whether each action with two `pointed_squares` moves a stone from one of them to the other.

    A person clicks the stone and then its target. Actions with one square, such as placing a stone, need one click.
    """
    is_rhombus: bool = False
    """Whether the board is a rhombus of hexagons: each row is half a cell further to the right than the row above.

    The upper and lower edges belong to the player who moves first, the others to the other player. At the end of a
    match, a chain of stones between a player's two edges is marked.
    """
    is_on_crossings: bool = False
    """Whether stones stand on the crossings of lines, as in Go, rather than in squares."""
    joined_squares: Sequence[tuple[int, int]] = ()
    """Pairs of squares that a straight line joins, in games with `is_on_crossings`; empty: the lines fill the board."""
    draws_lines: bool = False
    """Whether the board is a grid of dots, lines and boxes, as in Dots and Boxes.

    Squares in even rows and columns, counted from 0, are dots, and those in odd ones boxes. The others are the places
    of lines, which are drawn where there is a mark (`square_marks`).
    """
    unused_squares: Sequence[int] = ()
    """The squares that do not belong to the board, such as the light ones in draughts."""
    square_marks: Mapping[str, str] = MappingProxyType({})
    """What a bit of a field of positions says of its square, by the name of the field: {"kings": "king"}.

    Bit i of the field is square i. The page draws the first letter on the stone.
    """
    ko_field: str | None = None
    """The field of positions that holds 1 + the empty square that may not be taken because a position would repeat, or
    0; None: there is no such rule."""
    why_illegal: str = ""
    """Why a stone may not be placed on an empty square, apart from ko, in a sentence; empty: every empty square is
    legal."""
    captures_stones: bool = False
    """Whether the stones that a player has captured are counted."""
    turns_for_second: bool = False
    """Whether the page turns the board by half a turn for a person who moves second, so that the own side is below."""
    line_length: int | None = None
    """The number of stones in a row, a column or a diagonal that win; None if no line wins."""
    line_is_exact: bool = False
    """Whether longer lines do not win."""
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

    @property
    def star_points(self) -> list[int]:
        """The crossings that are marked by a dot: the middle, and from 7 lines on those near the corners, from 17 on
        near the sides. Empty if stones do not stand on crossings."""
        if not self.is_on_crossings or self.joined_squares or self.game.board_shape is None:
            return []
        rows, columns = self.game.board_shape

        def near(count: int) -> list[int]:
            edge = 3 if count > 11 else 2
            return [edge, count - 1 - edge] if count >= 7 else []

        def middle(count: int) -> list[int]:
            return [count // 2] if count % 2 else []

        points = [*product(near(rows), near(columns)), *product(middle(rows), middle(columns))]
        if min(rows, columns) >= 17:
            points += [*product(near(rows), middle(columns)), *product(middle(rows), near(columns))]
        return [columns * row + column for row, column in points]

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Match `row` of `state` drawn as text, one line per board row, without a newline at the end.

        By default the stones are drawn as X and O with the names of rows and columns; without a board, the
        fields of the position as numbers.
        The value of an action is in the square that chooses it, or below the board; the last line is the caption.

        Args:
            values: float32[A], the value to show of each legal action; nan where illegal.
        """
        shown = [] if values is None else [(a, value) for a, value in enumerate(values.tolist()) if np.isfinite(value)]
        player = int(state.current_player[row])
        texts = {action: f"{self.game.action_text(action, player)} {value:+.2f}" for action, value in shown}
        if self.game.board_shape is None:
            fields = self.game.positions(state)[row]._asdict().items()
            fields_text = ", ".join(f"{name} {_in_words(value)}" for name, value in fields)
            return "\n".join(filter(None, [fields_text, *texts.values(), self.caption(state, row)]))
        cells = self.stone_signs(state, row)
        for action, value in shown:
            if len(squares := self.pointed_squares(action)) == 1:
                cells[squares[0]] = f"{value:+.2f}"
                del texts[action]
        return "\n".join(filter(None, [*self.board_lines(cells), *texts.values(), self.caption(state, row)]))

    def board_lines(self, cells: Sequence[str]) -> list[str]:
        """The lines of a board with these texts in its squares, and the names of columns and rows at its edges."""
        width, size = self.game.observation_shape[2], max(map(len, cells))
        rows = [[cell.center(size) for cell in cells[start : start + width]] for start in range(0, len(cells), width)]
        names = self.column_names or [str(column + 1) for column in range(width)]
        numbers = self.row_names or [str(number + 1) for number in range(len(rows))]
        lines = [["  ", *(name.center(size) for name in names)]]
        lines += [[f"{number:>2}", *row] for number, row in zip(numbers, rows, strict=True)]
        return [" ".join(line).rstrip() for line in lines]

    def board_text_with_actions(self, state: State, row: int = 0) -> str:
        """`board_text` with the `marked_squares`, for a person to choose an action; by default without marks."""
        return self.board_text(state, row)

    def marked_squares(self, state: State, row: int = 0) -> Sequence[int]:
        """The squares of match `row` to mark for a person who has to choose an action; none by default.

        Used in games in which some empty squares are illegal.
        """
        return ()

    def caption(self, state: State, row: int = 0) -> str:
        """A line below the board of match `row`: by default the points, or the lead in points, in a game that counts
        them, otherwise empty."""
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

    def ko(self, state: State) -> int | None:
        """The square of `ko_field` in a position (B = 1); None if there is none."""
        if self.ko_field is None:
            return None
        field = int(getattr(self.game.positions(state)[0], self.ko_field))
        return field - 1 if field else None

    def why_not(self, state: State, action: int) -> str | None:
        """Why an action is not legal in a position (B = 1) by what is on its squares, as a clause such as "it is
        occupied"; None where they do not tell."""
        pointed, squares = list(self.pointed_squares(action)), range(self.game.num_squares or 0)
        if not pointed or not all(square in squares for square in pointed):
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

    def captured_stones(self, states: State) -> list[int]:
        """The number of stones that player 0 and player 1 have captured.

        states: the positions of one match from its start, as a batch.
        """
        squares = self.game.squares(states)
        # Those of the other player that have left the board.
        stones = torch.stack([(squares == stone).sum(dim=1) for stone in (-1, 1)])
        return (stones[:, :-1] - stones[:, 1:]).clamp(min=0).sum(dim=1).tolist()

    def line_text(self, actions: Sequence[int]) -> str:
        """The boards of a match after each of `actions`, side by side, each headed by its action."""
        state = self.game.init()
        columns: list[list[str]] = []
        for number, action in enumerate(actions, start=1):
            text = self.game.action_text(action, int(state.current_player))
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

    def name_with_sign(self, player: int) -> str:
        """The name of player 0 or 1, with the sign of its stones in `board_text` if this is another: "red (X)"."""
        name, sign = self.player_names[player], SIGNS[1 - 2 * player]
        return name if name == sign or self.game.num_squares is None else f"{name} ({sign})"

    def action_in_words(self, action: int) -> str:
        """The name of an action in range(A) within a sentence; its text by default."""
        return self.game.action_to_string(action)

    def action_named(self, action: int, player: int) -> str:
        """`action_in_words`; without words, the text of the action as player 0 or 1 takes it."""
        words = self.action_in_words(action)
        return self.game.action_text(action, player) if words == self.game.action_to_string(action) else words

    def action_written_like(self, action: int, example: str) -> str:
        """The text of an action in range(A), in the notation of `example` if the game has several; else as usual."""
        return self.game.action_to_string(action)

    def opening(self, actions: Sequence[int]) -> str | None:
        """The name of the opening with which a match begins; None if it has none, as by default."""
        return None

    def pointed_squares(self, action: int) -> Sequence[int]:
        """The squares that a person may click to choose `action`; empty if there are none, for a button.

        If a click could mean several legal actions, the page asks which.

        By default square i chooses action i in games with one action for each square.
        """
        return [action] if self._has_action_per_square and action != self.game.pass_action else []

    @property
    def drops_stones(self) -> bool:
        """Whether a person clicks anywhere in a column, as in games in which stones fall; the page draws such a board
        upright."""
        if self.game.num_squares is None:
            return False
        columns = self.game.square_numbers.T.tolist()
        pointed = [list(self.pointed_squares(action)) for action in range(self.game.num_distinct_actions)]
        return any(pointed) and all(squares in columns for squares in pointed if squares)

    def placed_squares(self, state: State, actions: Sequence[int]) -> list[int | None]:
        """For each action, the square of its `pointed_squares` on which it puts a stone or a mark; None if on none.

        `state`: one match, in which the actions are legal.
        """
        if self.game.num_squares is None or not actions:
            return [None] * len(actions)
        same = state.select(torch.zeros(len(actions), dtype=torch.int64))
        before = self.contents(state)[0].tolist()
        afters = self.contents(self.game.step_unchecked(same, torch.tensor(actions))).tolist()
        return [
            next((s for s in self.pointed_squares(action) if before[s] != after[s] != 0), None)
            for action, after in zip(actions, afters, strict=True)
        ]

    def line_squares(self, actions: Iterable[int], start: State) -> list[list[int]]:
        """The squares of actions that are taken one after the other from a position (B = 1): that on which each puts a
        stone or a mark, after that which a stone leaves; none for an action without a square."""
        squares, state = list[list[int]](), start
        for action in actions:
            pointed, (placed,) = list(self.pointed_squares(action)), self.placed_squares(state, [action])
            moves = self.moves_stones and len(pointed) == 2 and placed is not None
            target = pointed[:1] if placed is None else [placed]
            squares.append([square for square in pointed if moves and square != placed] + target)
            state = self.game.step_unchecked(state, torch.tensor([action]))
        return squares

    def marks(self, states: State) -> Tensor:
        """int64[B, S]: which of `square_marks` each square has, numbered from 1 in their order; 0: none."""
        found = torch.zeros((states.batch_size, self.game.num_squares or 0), dtype=torch.int64)
        for number, name in enumerate(self.square_marks, start=1):
            found = torch.where(self.game.square_bits(self.game.field(states, name)) == 1, number, found)
        return found

    def contents(self, states: State) -> Tensor:
        """int64[B, S]: different numbers for squares with different stones or marks, 0 for those with neither."""
        return self.game.squares(states) + 3 * self.marks(states)

    def square_name(self, square: int) -> str:
        """The name of a square: that of its action if each square has one, otherwise its column and row from the
        top."""
        if self._has_action_per_square:
            return self.game.action_to_string(square)
        row, column = divmod(square, self.game.observation_shape[2])
        if self.row_names:
            return self.column_names[column] + self.row_names[row]
        return f"column {column + 1}, row {row + 1}"

    @property
    def _has_action_per_square(self) -> bool:
        return self.game.num_squares == self.game.num_distinct_actions - (self.game.pass_action is not None)
