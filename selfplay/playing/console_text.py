"""How the console writes boards, actions and plies."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.playing.board_text import BOARDS, ValueColumn, boards_side_by_side, with_coordinates
from selfplay.playing.match_history import Ply
from selfplay.playing.value_text import estimate_text, exact_text, points_text
from selfplay.playing.valued_match import Values
from selfplay.settings.experience import PictureSettings
from selfplay.settings.playing import DisplaySettings

HOW_CHOSEN = {None: "", True: " at random", False: " greedily"}
"""How an action was chosen, by `Ply.is_random`."""


class Display(NamedTuple):
    """What the console shows; see `selfplay.settings.playing.DisplaySettings`."""

    values: bool = True
    perfect: bool = False
    legal: bool = True
    coordinates: bool = False
    verbose: bool = False
    board: str = "plain"
    show: bool = True
    pause: float = 0.0
    clear: bool = False
    picture: PictureSettings | None = None
    """The picture that the command graph draws; None: the command is not available."""
    colour: bool = False
    """Whether values have the colours of a terminal."""
    example: str = ""
    """An action in the notation to use until the person types one."""
    for_learning: bool = False
    """Whether prompts list the legal actions, and the score of a person has the rates of all results."""

    @classmethod
    def of(cls, settings: DisplaySettings, *, colour: bool, example: str = "") -> "Display":
        names = ("values", "perfect", "legal", "coordinates", "verbose", "board", "show", "pause", "clear", "picture")
        return cls(**{name: getattr(settings, name) for name in names}, colour=colour, example=example)


DEFAULT_DISPLAY = Display()


class ConsoleText:
    """Boards, actions and plies as text. Actions are written in the notation in which the person types them."""

    def __init__(self, game: Game, display: Display) -> None:
        self.game, self.display, self.example = game, display, display.example
        draw = BOARDS[display.board]
        self._draw = with_coordinates(draw) if display.coordinates else draw

    def board(self, state: State) -> str:
        """The board of a match (B = 1)."""
        return self._draw(self.game, state)

    def board_to_choose(self, state: State) -> str:
        """The board of a match (B = 1) in which a person is to choose an action."""
        return self._draw(self.game, state, marked=self.display.legal)

    def boards(self, state: State, columns: Sequence[ValueColumn]) -> str:
        """The board with each of these values, side by side under their headings."""
        return boards_side_by_side(self.game, state, columns, colour=self.display.colour, draw=self._draw)

    def read(self, text: str, legal: Sequence[int]) -> int:
        """The legal action that the person has typed. Raises IllegalActionError, naming the legal ones."""
        action = self.game.string_to_action(text)
        self.example = text.strip()
        if action not in legal:
            raise IllegalActionError(
                f"action {self.action(action)} is not legal here; legal actions: {', '.join(map(self.action, legal))}"
            )
        return action

    def action(self, action: int) -> str:
        return self.game.presentation.action_written_like(action, self.example)

    def action_in_words(self, action: int) -> str:
        """The name of an action within a sentence."""
        words = self.game.presentation.action_in_words(action)
        return self.action(action) if words == self.game.action_to_string(action) else words

    def value(self, value: float, words: str | None, *, in_points: bool = False) -> str:
        """A value; if it is exact, also in `words`."""
        if words is not None:
            return f"value {exact_text(value)} ({words})"
        return (
            f"value {points_text(value)} {self.game.presentation.point_name}"
            if in_points
            else f"value {estimate_text(value)}"
        )

    def ply(
        self, subject: str, ply: Ply, values: Values | None, words: str | None = None, *, in_points: bool = False
    ) -> str:
        """What a player has played and why, as a sentence.

        Args:
            values: those that it gave to its actions.
            words: the value of the action in words, if it is exact.
            in_points: whether the values are numbers of points.
        """
        value = None if values is None or not np.isfinite(values[ply.action]) else float(values[ply.action])
        how = "" if ply.reason is not None else HOW_CHOSEN[ply.is_random]
        because = self.because(ply.reason, value, words, in_points=in_points)
        return f"{subject} plays {self.action(ply.action)}{how}{because}."

    def because(self, reason: str | None, value: float | None, words: str | None, *, in_points: bool) -> str:
        """The end of a sentence about an action: its reason, or else its value; empty if neither is known."""
        if reason is not None:
            return f": {reason}"
        return "" if value is None else f", {self.value(value, words, in_points=in_points)}"

    def visits(self, counts: Sequence[int]) -> str:
        """The number of simulations through each action, the largest first."""
        order = sorted((action for action, count in enumerate(counts) if count), key=lambda action: -counts[action])
        return f"Simulations: {', '.join(f'{self.action(action)}: {counts[action]:,}' for action in order)}."

    def number(self, state: State) -> str | None:
        """The number of the board (B = 1) as a sentence; None unless it is to be shown."""
        number = self.game.presentation.board_number(state) if self.display.verbose else None
        return None if number is None else f"Board number {number:,} of 3^{self.game.num_squares}."
