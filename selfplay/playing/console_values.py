"""The values of actions at the console: those of a player and of perfect play, hints and verdicts."""

from collections.abc import Callable

import numpy as np

from selfplay.errors import NotNowError
from selfplay.players.capabilities import CountsVisits
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.console_text import ConsoleText
from selfplay.playing.hints import hint, optimal_actions, perfect_values
from selfplay.playing.match_history import Ply
from selfplay.playing.session import Session, Values

VALUES, PERFECT = "values", "perfect"
"""The commands that show or hide values."""


class ConsoleValues:
    """Writes what is known about the actions of a session.

    Args:
        write: shows one or more lines.
        text: how boards and actions are written; its display says whether VALUES and PERFECT are shown at first.
    """

    def __init__(self, session: Session, write: Callable[[str], None], text: ConsoleText) -> None:
        self.session, self.game, self.write, self.text = session, session.game, write, text
        self.shows = {VALUES: text.display.values, PERFECT: text.display.perfect}

    def show_or_hide(self, what: str, argument: str) -> None:
        """Show or hide VALUES or PERFECT: `argument` is "on", "off", or empty to change between them.

        Raises NotNowError for another argument, and if the game has no perfect values.
        """
        if argument not in ("", "on", "off"):
            raise NotNowError(f"write {what} on or {what} off")
        shown = argument == "on" or (argument == "" and not self.shows[what])
        if what == PERFECT and shown and perfect_player_of(self.game) is None:
            self.shows[what] = False
            raise NotNowError(f"{self.game.name} is too large to be solved")
        self.shows[what] = shown
        self.write(f"{what} {'on' if shown else 'off'}")

    def show(self, *, with_values: bool) -> Values | None:
        """Write the board with the values of each action; returns the player's values if `with_values`."""
        values, adviser = self.session.action_values() if with_values else None, self.session.adviser()
        perfect = perfect_values(self.session) if self.shows[PERFECT] else None
        columns = []
        if values is not None and adviser is not None and not np.isnan(values).all():
            columns.append((f"What {adviser.name} expects of each action:", values))
        if perfect is not None:
            columns.append(("Result with perfect play:", perfect))
        if columns:
            self.write(self.text.boards(self.session.state, columns))
        elif None not in self.session.seats:
            self.write(self.text.board(self.session.state))
        if values is not None and self.text.display.verbose:
            self._show_visits()
        return values

    def _show_visits(self) -> None:
        """Write how the player has divided its simulations among the actions, if it counts them."""
        adviser = self.session.adviser()
        counting = None if adviser is None else adviser.as_a(CountsVisits)
        if counting is not None:
            self.write(self.text.visits(counting.visit_counts(self.session.state)[0].tolist()))

    def show_verdict(self, ply: Ply) -> None:
        """Write which actions would have been best instead of the last ply, if perfect play is shown."""
        if not self.shows[PERFECT]:
            return
        before = len(self.session.plies) - 1
        values, best = perfect_values(self.session, before), optimal_actions(self.session, before)
        if values is None or best is None:
            return
        state, perfect = self.session.state_before(before), perfect_player_of(self.game)
        assert perfect is not None, "there are perfect values"
        outcome, best_outcome = (perfect.value_text(float(values[action]), state) for action in (ply.action, best[0]))
        played = self.text.action(ply.action)
        if ply.action in best:
            self.write(f"Perfect play: {played} {outcome}, and no other action is better.")
        else:
            self.write(f"Perfect play: {played} {outcome}; {self._names(best)} would have been best ({best_outcome}).")

    def show_hint(self) -> None:
        """Write an action to consider. Raises NotNowError if no values are known."""
        given = hint(self.session)
        self.show(with_values=True)
        self.write(f"{given.source} would play {self.text.action(given.action)}, value {given.value:+.2f}.")
        best = optimal_actions(self.session)
        if self.shows[PERFECT] and best is not None:
            self.write(f"Perfect play: {self._names(best)}.")

    def _names(self, actions: tuple[int, ...]) -> str:
        return " or ".join(map(self.text.action, actions))
