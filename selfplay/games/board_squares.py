"""The board of a game as it is shown: its squares and their names, what they show, and those that an action is on."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.clicked_squares import (
    ClickedSquares,
    Contents,
    Placed,
    changes,
    clicked_squares,
    placed_in_position,
    squares_in_position,
)
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping
from selfplay.games.touched_squares import actions_are_squares, tried_actions


class BoardSquares:
    """The part of a presentation that knows the squares of the board."""

    game: BatchStepping
    column_names: str = ""
    """A character for each column of the board, if the columns have names."""
    row_names: Sequence[str] = ""
    """A name for each row from the top, with `column_names`; empty: they are numbered from 1."""
    is_rhombus: bool = False
    """Whether the board is a rhombus of hexagons: each row is half a cell further to the right than the row above.

    Without `unused_squares`, the upper and lower edges belong to the player who moves first, the others to the other
    player, and at the end of a match a chain of stones between a player's two edges is marked.
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

    Bit i of the field is square i. A letter is drawn on the square or its stone. Other boards of positions than `own`
    and `opp` have marks with the names of their fields.
    """
    hidden_fields: Collection[str] = ()
    """The fields of positions that are not shown. Beside a board, numbers and flags are shown as text."""
    ko_field: str | None = None
    """The field of positions that holds 1 + the empty square that may not be taken because a position would repeat, or
    0; None: there is no such rule."""
    captures_stones: bool = False
    """Whether the stones that a player has captured are counted."""
    turns_for_second: bool = False
    """Whether the page turns the board by half a turn for a person who moves second, so that the own side is below."""
    line_length: int | None = None
    """The number of stones in a row, a column or a diagonal that win; None if no line wins."""
    line_is_exact: bool = False
    """Whether longer lines do not win."""

    @property
    def moves_stones(self) -> bool:
        """Whether each action with two `pointed_squares` moves a stone from one of them to the other.

        A person clicks the stone and then its target. Actions with one square, such as placing a stone, need one click.
        By default it is found with `pointed_squares`, and false where these are declared.
        """
        return self.finds_squares and self.found_squares.moves_stones

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

    def pointed_squares(self, action: int) -> Sequence[int]:
        """The squares that a person may click to choose `action`; empty if there are none, for a button.

        If a click could mean several legal actions, the page asks which.

        By default square i chooses action i in games in which action i is on square i; in other games with a board they
        are found in random positions (`selfplay.games.clicked_squares`), and those of a position can differ
        (`pointed_between`).
        """
        if self.game.num_squares is None:
            return []
        if self._actions_are_squares:
            return [action] if action < self.game.num_squares else []
        return self.found_squares.squares[action]

    @property
    def declares_squares(self) -> bool:
        """Whether the game has `pointed_squares` of its own."""
        return type(self).pointed_squares is not BoardSquares.pointed_squares

    def pointed_between(
        self, actions: Sequence[int], before: Contents, after: Contents, seats: NDArray[np.int64]
    ) -> list[list[int]]:
        """The squares of each action that a player (int64[N]: 0 or 1) takes between boards with these `contents`
        (int64[N, S]): those that are found there, or its `pointed_squares`."""
        if not actions or not self.finds_squares:
            return [[*self.pointed_squares(action)] for action in actions]
        return squares_in_position(self.found_squares, actions, changes(before, after, seats))

    def pointed_in(self, state: State, actions: Sequence[int]) -> list[list[int]]:
        """The squares of each of these legal actions of a match (B = 1)."""
        if not actions or not self.finds_squares:
            return [[*self.pointed_squares(action)] for action in actions]
        same = state.select(torch.zeros(len(actions), dtype=torch.int64))
        return self.pointed_between(actions, *self._boards(same, torch.tensor(actions)))

    def _boards(self, states: State, actions: Tensor) -> tuple[Contents, Contents, NDArray[np.int64]]:
        """The contents of the squares before and after legal actions (int64[B]), and the seats that take them."""
        afters = self.game.step_unchecked(states, actions)
        seats = states.current_player.to(torch.int64).numpy()
        return self.contents(states).numpy(), self.contents(afters).numpy(), seats

    @property
    def finds_squares(self) -> bool:
        """Whether the squares of actions are found in positions."""
        return self.game.num_squares is not None and not self.declares_squares and not self._actions_are_squares

    @cached_property
    def found_squares(self) -> ClickedSquares:
        """The squares of actions as they are found in random positions; only in a game that `finds_squares`."""
        game, (rows, columns) = self.game, self.game.board_shape or (0, 0)
        states, actions = tried_actions(game, game.max_game_length, 3 * rows * columns)
        done = changes(*self._boards(states, actions))
        return clicked_squares(done, actions.numpy(), (rows, columns), game.num_distinct_actions)

    @property
    def drops_stones(self) -> bool:
        """Whether a person clicks anywhere in a column, as in games in which stones fall; the page draws such a board
        upright."""
        if self.game.board_shape is None or self.game.board_shape[0] == 1:
            return False
        columns = self.game.square_numbers.T.tolist()
        pointed = [list(self.pointed_squares(action)) for action in range(self.game.num_distinct_actions)]
        return any(pointed) and all(squares in columns for squares in pointed if squares)

    def marked_squares(self, state: State, row: int = 0) -> Sequence[int]:
        """The squares of match `row` to mark for a person who has to choose an action; none by default.

        Used in games in which some empty squares are illegal.
        """
        return ()

    def squares_of_values(self, state: State, actions: Sequence[int]) -> dict[int, int]:
        """The square of each of these legal actions of a match (B = 1), for those that are alone on one square."""
        pointed = dict(zip(actions, self.pointed_in(state, actions), strict=True))
        times = Counter(square for squares in pointed.values() for square in squares)
        return {
            action: square
            for action, squares in pointed.items()
            for square in squares
            if len(squares) == 1 == times[square]
        }

    def placed_squares(self, state: State, actions: Sequence[int]) -> list[int | None]:
        """For each action that is legal in a match (B = 1), the square of its `pointed_squares` on which it puts a
        stone or a mark; None if on none."""
        return [square for square, _ in self.placed(state, actions)]

    def placed(self, state: State, actions: Sequence[int]) -> list[Placed]:
        """What each action puts on the board of a match (B = 1) in which it is legal."""
        if self.game.num_squares is None or not actions:
            return [Placed(None, None)] * len(actions)
        same = state.select(torch.zeros(len(actions), dtype=torch.int64))
        befores, afters, seats = self._boards(same, torch.tensor(actions))
        pointed = self.pointed_between(actions, befores, afters, seats)
        return placed_in_position(pointed, befores, afters, seats, moves_stones=self.moves_stones)

    def line_squares(self, actions: Iterable[int], start: State) -> list[list[int]]:
        """The squares of actions that are taken one after the other from a position (B = 1): that on which each puts a
        stone or a mark, after that which a stone leaves; none for an action without a square."""
        squares, state = list[list[int]](), start
        for action in actions:
            (pointed,), (placed,) = self.pointed_in(state, [action]), self.placed_squares(state, [action])
            moves = self.moves_stones and len(pointed) == 2 and placed is not None
            target = pointed[:1] if placed is None else [placed]
            squares.append([square for square in pointed if moves and square != placed] + target)
            state = self.game.step_unchecked(state, torch.tensor([action]))
        return squares

    @property
    def names_squares(self) -> bool:
        """Whether people read the squares of actions, in a game with a board whose actions have no texts."""
        kind = type(self.game)
        has_texts = (kind.action_to_string, kind.action_text) != (
            BatchStepping.action_to_string,
            BatchStepping.action_text,
        )
        return self.game.num_squares is not None and not has_texts

    def square_name(self, square: int) -> str:
        """The name of a square: that of its action if each square has one, otherwise its column and row from the
        top."""
        if self._actions_are_squares and not (self.names_squares and self.column_names):
            return self.game.action_to_string(square)
        row, column = divmod(square, self.game.observation_shape[2])
        if self.row_names or self.column_names.isalpha():
            return self.column_names[column] + (self.row_names[row] if self.row_names else str(row + 1))
        return f"column {column + 1}, row {row + 1}"

    @cached_property
    def edge_texts(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of the columns and of the rows: those in the names of the squares where these are as a1; else those
        that are declared, or numbers from 1."""
        rows, columns = self.game.board_shape or (0, 0)
        named = [re.fullmatch(r"([A-Za-z])(\d+)", self.square_name(square)) for square in range(rows * columns)]
        if all(named):
            return [name[1] for name in named[:columns] if name], [name[2] for name in named[::columns] if name]
        numbers = [str(number + 1) for number in range(max(rows, columns))]
        return self.column_names or numbers[:columns], self.row_names or numbers[:rows]

    @cached_property
    def _actions_are_squares(self) -> bool:
        """Whether action i is on square i, and there are no others but a pass."""
        has_as_many = self.game.num_squares == self.game.num_distinct_actions - (self.game.any_pass is not None)
        return has_as_many and actions_are_squares(self.game)

    def marks(self, states: State) -> Tensor:
        """int64[B, S]: which of `shown_marks` each square has: bit k for number k, from 0 in their order."""
        found = torch.zeros((states.batch_size, self.game.num_squares or 0), dtype=torch.int64)
        for number, name in enumerate(self.shown_marks):
            found |= self.game.square_bits(self.game.field(states, name)).to(torch.int64) << number
        return found

    @cached_property
    def shown_marks(self) -> dict[str, str]:
        """What marks say of squares, by the field: `square_marks`, and the names of other boards without stones."""
        known = {*self.square_marks, *self.hidden_fields, *(("own", "opp") if self.game.has_stones else ())}
        boards = [place for place in self.game.rules.position.places if place.is_board]
        others = [place.name for place in boards if place.name not in known and place.bits == self.game.num_squares]
        return dict(self.square_marks) | {name: name.replace("_", " ") for name in others}

    @cached_property
    def mark_signs(self) -> list[str]:
        """A letter for each of `shown_marks`: the first of its text that is not another sign."""
        signs = list[str]()
        for text in self.shown_marks.values():
            letters = [letter for letter in text.upper() if letter.isalnum()] or ["?"]
            signs.append(next((letter for letter in letters if letter not in ("X", "O", *signs)), letters[0]))
        return signs

    def signs_of_mark(self, mark: int) -> str:
        """The letters of the marks of a square, as `marks` gives them."""
        return "".join(sign for number, sign in enumerate(self.mark_signs) if mark >> number & 1)

    def contents(self, states: State) -> Tensor:
        """int64[B, S]: different numbers for squares with different stones or marks, 0 for those with neither."""
        return self.game.squares(states) + 3 * self.marks(states)

    def ko(self, state: State) -> int | None:
        """The square of `ko_field` in a position (B = 1); None if there is none."""
        if self.ko_field is None:
            return None
        field = int(getattr(self.game.positions(state)[0], self.ko_field))
        return field - 1 if field else None

    def captured_stones(self, states: State) -> list[int]:
        """The number of stones that player 0 and player 1 have captured.

        states: the positions of one match from its start, as a batch.
        """
        squares = self.game.squares(states)
        # Those of the other player that have left the board.
        stones = torch.stack([(squares == stone).sum(dim=1) for stone in (-1, 1)])
        return (stones[:, :-1] - stones[:, 1:]).clamp(min=0).sum(dim=1).tolist()
