"""How the console writes boards, actions, plies and players."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.matches.arena import statuses_of
from selfplay.playing.board_text import (
    BOARDS,
    ValueColumn,
    boards_side_by_side,
    estimate_text,
    exact_text,
    points_text,
    with_coordinates,
)
from selfplay.playing.plies import Estimate, Ply
from selfplay.playing.session import Session
from selfplay.settings.classical import PictureSettings
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
    def from_settings(cls, settings: DisplaySettings, *, colour: bool, example: str = "") -> "Display":
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

    def ply(self, subject: str, ply: Ply, estimate: Estimate | None, words: str | None = None) -> str:
        """What a player has played and why, as a sentence.

        Args:
            estimate: what it expected of its actions.
            words: the value of the action in words, if it is exact.
        """
        value = None if estimate is None else float(estimate.values[ply.action])
        value = value if value is not None and np.isfinite(value) else None
        how = "" if ply.reason is not None else HOW_CHOSEN[ply.is_random]
        because = self.because(ply.reason, value, words, in_points=estimate is not None and estimate.in_points)
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


class ConsolePlayers:
    """The players of a session in words. If exactly one of them is a person, that person is called "you"."""

    def __init__(self, session: Session) -> None:
        self.session, self.seat_names = session, session.game.presentation.player_names

    def title(self, *, asks_who_is_first: bool) -> str:
        """The game and its players, or the person's opponent while the seats are not known."""
        title = self.session.game.presentation.title
        return f"{title} against {self.session.names[1]}" if asks_who_is_first else f"{title}, {self.seats()}"

    def seats(self) -> str:
        return ", ".join(f"{seat}: {name}" for seat, name in zip(self.seat_names, self.session.names, strict=True))

    def seat_of_person(self) -> str | None:
        """Tells the person, if exactly one plays, which side is theirs."""
        seats = self.session.seats
        return f"You are {self.seat_names[seats.index(None)]}." if seats.count(None) == 1 else None

    def score(self) -> str:
        """The results so far: of one person against a player in a few words, otherwise by seat."""
        results, players = self.session.results, self.session.players
        if not results.matches or players.count(None) != 1:
            return self.session.standing() or ""
        person = players.index(None)
        won, drawn, lost = results.by_player if person == 0 else results.by_player[::-1]
        draws = f", drawn: {drawn}" if drawn else ""
        opponents = [player for player in players if player is not None]
        score = f"You: {won}, {opponents[0].name}: {lost}{draws}"
        return "; ".join([score, *statuses_of(*opponents)])

    def subject(self) -> str:
        """The player to move, as the subject of a sentence."""
        seat, seats = self.session.to_move, self.session.seats
        if seats.count(None) == 1:
            return "You" if seats[seat] is None else "It"
        name = self.seat_names[seat]
        return name if seats[seat] is None else f"{name} ({self.session.names[seat]})"

    def whose_action(self) -> str:
        """What the person to move is asked for."""
        if self.session.players.count(None) == 1:
            return "Your action"
        return f"Action of {self.seat_names[self.session.to_move]}"
