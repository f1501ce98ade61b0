"""The match of a GTP engine: played by colour, taken back, set up, and remade with another board or komi."""

from collections.abc import Sequence
from math import inf, nan
from typing import NamedTuple

from selfplay.engines.gtp import COLOUR_NAMES, Vertices
from selfplay.errors import IllegalActionError, NotNowError, SettingError
from selfplay.games import Game
from selfplay.games.state import State
from selfplay.players.player import Player
from selfplay.playing.match_files import record_of_session
from selfplay.playing.session import Session
from selfplay.records import Record


class Moment(NamedTuple):
    """A position of a match."""

    start: State
    actions: list[int]


class GtpMatch:
    """One match at a time, in which the controller moves both colours.

    Args:
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        rows: as for `Vertices`.

    Raises SettingError if the protocol cannot express the game's actions.
    """

    def __init__(self, game: Game, key: int, rows: str) -> None:
        self._key, self._rows, self._before = key, rows, list[Moment]()
        self._make(game)

    def _make(self, game: Game) -> None:
        self.vertices = Vertices(game, self._rows)
        self.game, self.session = game, Session(game, (None, None), self._key)

    def remake(self, game: Game, *, keep: bool = False) -> None:
        """Go on with another game. `keep`: with the same moves from the same board, which must be legal in it too."""
        moments, match, old = [*self._before, self.now()], self.session.match, self.game
        self._make(game)
        self.session.match = match
        if not keep:
            self.clear()
            return
        *self._before, now = [Moment(game.set_up_as_in(old, start), actions) for start, actions in moments]
        self.go_to(now)

    def clear(self) -> None:
        """Begin the next match."""
        self.session.new_match()
        self._before.clear()

    def begin(self, start: State | None, actions: Sequence[int] = ()) -> None:
        """Begin the next match in this position, with these actions, which can be undone one by one."""
        self.clear()
        self.session.resume([], start=start)
        self._before = [Moment(self.now().start, list(actions[:count])) for count in range(len(actions))]
        self.session.resume(actions, start=start)

    def record(self) -> Record:
        """The match so far; the controller knows who plays."""
        return record_of_session(self.session)._replace(players=("", ""))

    def choice(self, seat: int, player: Player) -> int | None:
        """What `player` does when it plays this seat; None after the end."""
        plies = len(self.session.plies)
        self.give_turn_to(seat)
        try:
            return None if self.session.is_over else self.session.choice_of(player)
        finally:
            self.session.rewind(plies)

    def expects(self, seat: int, player: Player) -> float:
        """What `player` expects of its best action when it plays this seat, from -1 to 1; nan if it does not say so."""
        plies = len(self.session.plies)
        self.give_turn_to(seat)
        try:
            found = player.value_actions(self.session.state, self.session.draws)
            if found is None or found.points_per_value is not None or bool(found.values.isnan().all()):
                return nan
            return float(found.values.nan_to_num(nan=-inf).max()) - found.neutral
        finally:
            self.session.rewind(plies)

    def take(self, seat: int, action: int | None) -> None:
        """Play an action of `seat`. A pass after the end has no effect, and in a game without passes, None is one; a
        stone continues the match, where the position allows it.

        Raises IllegalActionError if it is not legal, and NotNowError if it is the opponent's turn.
        """
        before = self.now()
        try:
            if self.session.is_over and action != self.vertices.pass_action:
                self.continue_with(seat)
            self.give_turn_to(seat)
            if not self.session.is_over and action is not None:
                if self.session.can_only_pass and action == self.game.pass_action:
                    self.session.advance()
                else:
                    self.session.play(action)
        except (IllegalActionError, NotNowError):
            self.go_to(before)
            raise
        self._before.append(before)

    def continue_with(self, seat: int) -> None:
        """Let a match that has ended, such as by passes, go on with a move of `seat`. Raises IllegalActionError.

        The passes that ended it are taken back, as far as that makes it the turn of `seat`, so that the record of the
        match is still whole. If that is not possible, it goes on from the board as it stands.
        """
        plies, passing = self.session.plies, self.vertices.pass_action
        if passing is not None and [ply.action for ply in plies[-2:]] == [passing, passing]:
            passer = next((number for number in (len(plies) - 2, len(plies) - 1) if plies[number].seat == seat), None)
            if passer is not None:
                self.session.rewind(passer)
                return
        try:
            start = self.game.resumed(self.session.state, seat)
        except SettingError as error:
            raise IllegalActionError(str(error)) from error
        self.session.resume([], start=start)

    def give_turn_to(self, seat: int) -> None:
        """Let the opponent of `seat` pass if it is its turn. Raises NotNowError if it cannot pass."""
        session, passing = self.session, self.vertices.pass_action
        if session.is_over or session.to_move == seat:
            return
        if session.can_only_pass:
            session.advance()
        elif passing in session.legal_actions:
            session.play(passing)
        else:
            # A controller that lets the colours take turns does not know games in which a player moves several times.
            again = " again" if session.plies and session.plies[-1].seat == session.to_move else ""
            raise NotNowError(f"it is {COLOUR_NAMES[session.to_move]}'s turn{again}")

    def undo(self) -> None:
        """Take back the last action, and a pass that was put in before it. Raises NotNowError if there is none."""
        if not self._before:
            raise NotNowError("cannot undo")
        self.go_to(self._before.pop())

    def now(self) -> Moment:
        """The position of the match."""
        return Moment(self.session.state_before(0), [ply.action for ply in self.session.plies])

    def go_to(self, moment: Moment) -> None:
        """Let the match be as it was then."""
        self.session.resume(moment.actions, start=moment.start)
