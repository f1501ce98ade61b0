"""One match of a person in a browser."""

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.games import Game
from selfplay.players.capabilities import LearnsFromMatches, SolvesPositions
from selfplay.players.player import Player
from selfplay.playing.hints import Hint, hint, perfect_values
from selfplay.playing.match_history import Ply
from selfplay.playing.session import Session, Values
from selfplay.playing.session_summary import summary
from selfplay.web.errors import StaleError
from selfplay.web.match_lock import MatchLock
from selfplay.web.schemas import ActionView, HintView, MatchView, OpponentView, PerfectView, PlyView, SeatOfPerson

PERSON, OPPONENT = 0, 1
"""The numbers of the two players in the session."""

FIRST_PLAYER: dict[SeatOfPerson, int] = {"first": PERSON, "second": OPPONENT}


class PlyNote(NamedTuple):
    """What is found out about a ply once, and shown many times."""

    place: int | None
    """The number that the position then is, in games of one number."""
    value: float | None
    value_is_points: bool
    square: int | None
    """Where it has put a stone."""
    turned: list[int]
    """The squares whose stones the ply has turned."""
    squares: NDArray[np.int8] | None
    """int8[S]: the stones after it."""


class Match:
    """A session against one opponent, with all that a page shows of it.

    Its random numbers depend on the seed, its id, the number of the match and the ply alone.

    Args:
        name: its id.

    Attributes:
        turn: whose turn it is among the requests; all else is for who has it.
    """

    def __init__(
        self, name: str, game: Game, opponent: OpponentView, player: Player, seed: int, person: SeatOfPerson
    ) -> None:
        self.name, self.game, self.opponent = name, game, opponent
        # A player that learns goes on with the numbers that come next, so that it does not meet the same match again.
        learner = player.as_a(LearnsFromMatches)
        number = 0 if learner is None else learner.matches_seen()
        self.session = Session(game, (None, player), key_of(seed, name), first=FIRST_PLAYER[person], match=number)
        self.lock = MatchLock()
        self._notes: list[PlyNote] = []
        self._valued_from = 0

    # ------------------------------------------------------------------ what a person can do

    def play(self, action: int, ply: int) -> None:
        """The person acts. Raises StaleError, NotNowError, IllegalActionError."""
        if ply != len(self.session.plies):
            count = len(self.session.plies)
            plies = "1 ply" if count == 1 else f"{count} plies"
            raise StaleError(f"this match has {plies}, not {ply}; look at it again")
        self.session.play(action)

    def reply(self) -> None:
        """Go on until the person has to choose or the match is over."""
        while not (self.session.is_over or self.session.awaits_person):
            if not self.session.can_only_pass:
                # RequestBody before it acts, so that the page can show what it thought then.
                self.session.action_values()
            self.session.advance()

    def undo(self) -> None:
        """Raises NotNowError."""
        self.session.undo()
        del self._notes[len(self.session.plies) :]

    def new_match(self, person: SeatOfPerson) -> None:
        """Begin the next match against the same opponent."""
        self.session.new_match(FIRST_PLAYER[person])
        self._notes, self._valued_from = [], 0

    def take_over(self, opponent: OpponentView, player: Player) -> None:
        """Another opponent goes on from here; what it thinks of the match so far is asked only if that is quick."""
        self.session.take_over(OPPONENT, player)
        self.opponent, self._notes = opponent, []
        self._valued_from = len(self.session.plies) if opponent.is_slow else 0

    # ------------------------------------------------------------------ what is shown

    def hint(self) -> HintView:
        """Raises NotNowError if nobody knows."""
        given: Hint = hint(self.session)
        source = self.opponent.label if given.source == self.session.names[1 - self.person_seat] else given.source
        return HintView(
            action=given.action,
            text=given.text,
            square=self.game.placed_squares(self.session.state, [given.action])[0],
            value=given.value,
            source=source,
        )

    def perfect(self) -> PerfectView:
        """What perfect play gets with each legal action."""
        values = perfect_values(self.session)
        return PerfectView(values=None if values is None else [float(values[a]) for a in self.session.legal_actions])

    @property
    def person_seat(self) -> int:
        return 0 if self.session.first == PERSON else 1

    def view(self) -> MatchView:
        """The match now."""
        session = self.session
        values = session.action_values() if session.awaits_person else None
        shown = dict(summary(session))
        squares = shown["squares"]
        shown |= {
            "id": self.name,
            "opponent": self.opponent,
            "person_seat": self.person_seat,
            "counts": None if self.game.rules.margin is None else [squares.count(1), squares.count(-1)],  # type: ignore
            "place": self._place(len(session.plies)),
            "can_only_pass": session.can_only_pass,
            "adviser": None if values is None else self.opponent.label,
            "values_are_points": values is not None and self._are_points(len(session.plies)),
            "legal": self._legal(values) if session.awaits_person else [],
            "plies": self._plies(),
            "result": self._result(),
        }
        return MatchView.model_validate(shown)

    def _legal(self, values: Values | None) -> list[ActionView]:
        actions = self.session.legal_actions
        squares = self.game.placed_squares(self.session.state, actions)
        return [
            ActionView(
                action=action,
                text=self.game.action_to_string(action),
                square=square,
                pointed=list(self.game.pointed_squares(action)),
                value=None if values is None else finite(values[action]),
            )
            for action, square in zip(actions, squares, strict=True)
        ]

    def _plies(self) -> list[PlyView]:
        plies = self.session.plies
        for number in range(len(self._notes), len(plies)):
            self._notes.append(self._note(number, plies[number]))
        return [
            PlyView(
                **ply._asdict(),
                place=note.place,
                value=note.value,
                value_is_points=note.value_is_points,
                turned=note.turned,
                square=note.square,
            )
            for ply, note in zip(plies, self._notes, strict=True)
        ]

    def _note(self, number: int, ply: Ply) -> PlyNote:
        place, value = self._place(number + 1), self._value(number, ply)
        is_points = value is not None and self._are_points(number)
        if self.game.num_squares is None:
            return PlyNote(place, value, is_points, None, [], None)
        known = self._notes[number - 1].squares if number else None
        before = self._squares(number) if known is None else known
        after = self._squares(number + 1)
        pointed = self.game.pointed_squares(ply.action)
        square = next((square for square in pointed if before[square] == 0 and after[square] != 0), None)
        return PlyNote(place, value, is_points, square, np.flatnonzero(before * after == -1).tolist(), after)

    def _squares(self, number: int) -> NDArray[np.int8]:
        """int8[S]: the stones before that ply."""
        return self.game.squares(self.session.state_before(number))[0].numpy()

    def _place(self, number: int) -> int | None:
        """The number that the position before that ply is, in games of one number."""
        line = self.game.position_line
        return None if line is None else int(line.place(self.session.state_before(number)))

    def _value(self, number: int, ply: Ply) -> float | None:
        if ply.is_forced or number < self._valued_from:
            return None
        values = self.session.action_values(number)
        return None if values is None else finite(values[ply.action])

    def _are_points(self, number: int) -> bool:
        """Whether the values before that ply are exact points: those of searches are, where they know the end."""
        adviser = self.session.adviser(number)
        solving = None if adviser is None else adviser.as_a(SolvesPositions)
        return solving is not None and bool(solving.solves(self.session.state_before(number)).all())

    def _result(self) -> str | None:
        winner = self.session.winner
        if not self.session.is_over or winner is None:
            return self.session.result_text
        return "You win." if winner == self.person_seat else "You lose."


def key_of(seed: int, name: str) -> int:
    """The stream of random numbers of the match with that id."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    stream = stream_key(seed, 0, Activity.VERSUS_PERSON)
    return int(fold(np.array([stream]), np.array([number]))[0])


def finite(value: float) -> float | None:
    """A value as JSON knows it."""
    return float(value) if np.isfinite(value) else None
