"""How the console writes boards, values, actions and plies: values in colour, boards side by side."""

import math
import os
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple, TextIO

from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.games.presentation import LEGAL
from selfplay.games.state import State, joined
from selfplay.players.estimates import Estimate, Values
from selfplay.playing.session import Ply
from selfplay.settings.playing import DisplaySettings

HOW_CHOSEN = {None: "", True: " at random", False: " greedily"}
"""How an action was chosen, by `Ply.is_random`."""

GAP = "    "

VALUE = re.compile(r"[+-]\d+\.\d\d")
"""The format of a value in the boards of all games."""

BOLD, RED, GREEN, PLAIN = "1", "31", "32", "0"


def supports_colour(stream: TextIO) -> bool:
    """Whether to use colour: on a terminal that supports it, unless NO_COLOR (no-color.org) is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def value_text(value: float, *, is_exact: bool = False, in_points: bool = False) -> str:
    """A value: +3, 0 or -2 if it is exact, +5.3 in points, otherwise +0.25."""
    if is_exact:
        return f"{round(value):+d}" if round(value) else "0"
    return f"{value:+z.1f}" if in_points else f"{value:+z.2f}"


def boxed_board(game: Game, state: State, values: Values | None = None, *, marked: bool = False) -> str:
    """The board of a match (B = 1) with a box around each square, in a game with a board.

    The values of actions stand in the squares that they choose, or below the board.
    """
    cells = [" " if sign == "." else sign for sign in game.presentation.square_signs(state)]
    marks = game.presentation.marked_squares(state) if marked else ()
    for square in marks:
        cells[square] = LEGAL
    note = "; ".join(filter(None, [game.presentation.caption(state), f"{LEGAL} legal" if marks else ""]))
    below = [note] if note else []
    shown = {} if values is None else {a: value for a, value in enumerate(values.tolist()) if value == value}
    squares = game.presentation.squares_of_values(state, [*shown])
    names = game.presentation.action_names(state, [0] * len(shown), [*shown])
    for name, (action, value) in zip(names, shown.items(), strict=True):
        if action in squares:
            cells[squares[action]] = f"{value:+.2f}"
        else:
            below.append(f"{name} {value:+.2f}")
    return "\n".join([*_boxes(cells, game), *below])


def _boxes(cells: Sequence[str], game: Game) -> list[str]:
    """The lines of a grid of boxes around `cells`. With names of columns, the rows are named too."""
    names, columns = game.presentation.column_names, game.observation_shape[2]
    width = max(map(len, cells))
    margin = "   " if names else ""
    line = margin + "-" * (columns * (width + 3) + 1)
    heading = f"{margin}  {'   '.join(f'{name:^{width}}' for name in names)}".rstrip()
    lines = [heading, line] if names else [line]
    rows = game.presentation.row_names or range(1, len(cells) // columns + 1)
    for name, start in zip(rows, range(0, len(cells), columns), strict=True):
        row = " | ".join(f"{cell:^{width}}" for cell in cells[start : start + columns])
        lines += [f"{f'{name:>2} ' if names else ''}| {row} |", line]
    return lines


def _named(lines: Sequence[str], rows: str, columns: str) -> str:
    # A box has a line above each row.
    step = 2 if lines[0].startswith("--") else 1
    width = max(map(len, lines[: step * len(rows)])) + (step == 1)
    heading = "".join(name.center(width // len(columns)) for name in columns)
    row_names = [" "] * len(lines)
    row_names[step - 1 : step * len(rows) : step] = rows
    named = [f"{name} {line}" for name, line in zip(row_names, lines, strict=True)]
    return "\n".join(line.rstrip() for line in [f"  {heading}", *named])


def one_after_the_other(texts: Sequence[str]) -> str:
    """Actions in one line."""
    return ("; " if any(" " in text for text in texts) else " ").join(texts)


class ValueColumn(NamedTuple):
    """The values of the actions of a position, as shown on a board of their own."""

    heading: str
    values: Values
    are_exact: bool = False
    """Whether they are the integers of an exact solver."""
    in_points: bool = False
    """Whether they are numbers of points."""
    neutral: float = 0.0
    """The value of an even match, which is neither green nor red."""


def _shown(text: str, column: ValueColumn, colour: bool) -> str:
    """`text` with values as those of its column; in colour, good ones are green, bad ones red, the best bold."""
    best = f"{max((v for v in column.values.tolist() if v == v), default=0.0):+.2f}"

    def shown(match: re.Match[str]) -> str:
        number = float(match[0])
        text = value_text(number, is_exact=column.are_exact, in_points=column.in_points)
        words = f"{text:^{len(match[0])}}"
        good = round(number - column.neutral, 2)
        codes = [BOLD] * (match[0] == best) + [GREEN] * (good > 0) + [RED] * (good < 0)
        return f"\x1b[{';'.join(codes)}m{words}\x1b[{PLAIN}m" if codes and colour else words

    return VALUE.sub(shown, text)


# ---------------------------------------------------------------------- the texts of a match


class ConsoleText:
    """Boards, actions and plies as text. Actions are written in the notation in which the person types them.

    Args:
        colour: whether values have the colours of a terminal.
        columns: the width of the terminal; None: boards may be as wide as they are.
        example: an action in the notation to use until the person types one.
    """

    def __init__(
        self,
        game: Game,
        settings: DisplaySettings,
        *,
        colour: bool = False,
        columns: int | None = None,
        example: str = "",
    ) -> None:
        self.game, self.settings, self.colour, self.columns = game, settings, colour, columns
        self.example = example

    def board(self, state: State, values: Values | None = None, *, marked: bool = False) -> str:
        """The board of a match (B = 1), with these values of actions or with the legal squares marked."""
        game, presentation = self.game, self.game.presentation
        if self.settings.board == "boxed" and game.board_shape is not None:
            text = boxed_board(game, state, values, marked=marked)
        else:
            text = presentation.board_text_with_actions(state) if marked else presentation.board_text(state, 0, values)
        names = presentation.edge_names if self.settings.coordinates else None
        return text if names is None else _named(text.splitlines(), *names)

    def boards(self, state: State, columns: Sequence[ValueColumn]) -> str:
        """The board with each of these values under their headings, side by side if the terminal is wide enough."""
        texts = [[column.heading, *self.board(state, column.values).splitlines()] for column in columns]
        widths = [max(map(len, lines)) for lines in texts]
        if len(columns) > 1 and sum(widths) + len(GAP) * (len(widths) - 1) > (self.columns or math.inf):
            return "\n\n".join(self.boards(state, [column]) for column in columns)
        rows = []
        for row in zip_longest(*texts, fillvalue=""):
            cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)]
            # Padded before colouring, because colour codes have no width on the screen.
            cells[-1] = cells[-1].rstrip()
            shown = (_shown(cell, column, self.colour) for cell, column in zip(cells, columns, strict=True))
            rows.append(GAP.join(shown).rstrip())
        return "\n".join(rows)

    def read(self, text: str, state: State) -> int:
        """The action that the player to move in a match (B = 1) has typed. Raises IllegalActionError unless it is
        legal."""
        named = self._named_squares(state)
        typed = {name.lower(): action for action, name in named.items()}.get(text.strip().lower())
        action = self.game.string_to_action(text) if typed is None else typed
        self.example = text.strip()
        if not bool(self.game.legal_action_mask(state)[0, action]):
            raise IllegalActionError(self.game.refusal(state, action, lambda one, _: self.action(one, state)))
        return action

    def action(self, action: int, state: State) -> str:
        """What a person reads of an action in a match (B = 1)."""
        return self.actions([action], state)[0]

    def actions(self, actions: Iterable[int], state: State) -> list[str]:
        """What a person reads of actions in a match (B = 1)."""
        show, named, texts = self.game.presentation, self._named_squares(state), list[str]()
        for action in actions:
            written = show.action_written_like(action, self.example)
            usual = self.game.action_text(action, int(state.current_player))
            texts.append(named.get(action, usual) if written == self.game.action_to_string(action) else written)
        return texts

    def _named_squares(self, state: State) -> dict[int, str]:
        """The names of the legal actions in a match (B = 1) if they are those of squares; else empty."""
        show = self.game.presentation
        return show.legal_names(state) if show.names_squares else {}

    def line(self, actions: Iterable[int], start: State) -> str:
        """The texts of actions that are taken one after the other from a position (B = 1)."""
        texts, state = [], start
        for action in actions:
            texts.append(self.action(action, state))
            state = self.game.step(state, action)
        return one_after_the_other(texts)

    def squares_of_actions(self, state: State) -> str:
        """The squares of the legal actions of a match (B = 1) in a game whose actions are only numbers; empty in
        others."""
        return "; ".join(f"{action}: {name}" for action, name in self._named_squares(state).items())

    def action_in_words(self, action: int, state: State) -> str:
        """The name of an action in a match (B = 1) within a sentence."""
        words = self.game.presentation.action_in_words(action)
        return self.action(action, state) if words == self.game.action_to_string(action) else words

    def ply(self, subject: str, ply: Ply, estimate: Estimate | None, before: State) -> str:
        """What a player has played and why, as a sentence.

        Args:
            estimate: what it expected of its actions.
            before: the match (B = 1) before the ply.
        """
        value, words = (None, None) if estimate is None else (estimate.value(ply.action), estimate.words(ply.action))
        how = "" if ply.reason is not None else HOW_CHOSEN[ply.is_random]
        because = self.because(ply.reason, value, words, in_points=estimate is not None and estimate.in_points)
        return f"{subject} plays {self.action(ply.action, before)}{how}{because}."

    def because(self, reason: str | None, value: float | None, words: str | None, *, in_points: bool) -> str:
        """The end of a sentence about an action: its reason, or else its value; empty if neither is known.

        A value with `words` is exact.
        """
        if reason is not None or value is None:
            return "" if reason is None else f": {reason}"
        if words is not None:
            return f", value {value_text(value, is_exact=True)} ({words})"
        unit = f" {self.game.presentation.point_name}" if in_points else ""
        return f", value {value_text(value, in_points=in_points)}{unit}"

    def visits(self, counts: Sequence[int], state: State) -> str:
        """The number of simulations through each action of a match (B = 1), the largest first."""
        order = sorted((action for action, count in enumerate(counts) if count), key=lambda action: -counts[action])
        pairs = zip(order, self.actions(order, state), strict=True)
        return f"Simulations: {', '.join(f'{text}: {counts[action]:,}' for action, text in pairs)}."

    def captured(self, match: Match) -> str | None:
        """How many stones both players have captured, if the last action of a match has captured some."""
        show = self.game.presentation
        if not show.captures_stones:
            return None
        before, now = (show.captured_stones(joined(states)) for states in (match.states[:-1], match.states))
        counts = ", ".join(f"{name} {count}" for name, count in zip(show.player_names, now, strict=True))
        return f"Captured stones: {counts}." if now != before else None

    def number(self, state: State) -> str | None:
        """The number of the board (B = 1) in base 3, as a sentence; None unless it is to be shown.

        Square k in C order is the digit of 3**k: 0 if it is empty, 1 for an X (player 0), 2 for an O.
        """
        if not self.game.has_stones or not self.settings.verbose:
            return None
        number = sum(stone % 3 * 3**k for k, stone in enumerate(self.game.squares(state)[0].tolist()))
        return f"Board number {number:,} of 3^{self.game.num_squares}."
