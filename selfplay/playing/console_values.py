"""What the console writes about actions: values of a player and of perfect play, hints, verdicts, known boards.

If this takes long, `notice_when_slow` writes that the program is busy.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import numpy as np
from numba.core import event

from selfplay.errors import NotNowError, SettingError, StageError
from selfplay.players.estimates import Estimate, Values, best_actions, grade_of
from selfplay.players.experience import ReadOnlyExperiencePlayer
from selfplay.players.perfect import PerfectPlayer, perfect_player_of
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.playing.console_text import ConsoleText, ValueColumn
from selfplay.playing.hints import hint, judge_of, perfect_action_values
from selfplay.playing.judge import Judge
from selfplay.playing.session import Ply, Session
from selfplay.settings.classical import PictureSettings

VALUES, PERFECT = "values", "perfect"
"""The commands that show or hide values."""
HEADINGS = {False: "Result with perfect play:", True: "Exact score of each action:"}
"""The heading of perfect values, by whether they are scores."""
PARTICIPLES = {"wins": "won", "draws": "drawn", "loses": "lost"}
MOST_SQUARES = 16
"""The largest board on which values are shown unless the settings say it: a second board for each reply is not long."""
QUIET_SECONDS = 1.0
"""How long work takes before a notice is written."""
THINKING = "Thinking..."
STILL_SOLVING = "Solving this position; it takes longer than most..."
COMPILING = "Compiling, once for this version of the program; this can take a minute..."


class ConsoleValues:
    """Writes what is known about the actions of a session.

    Args:
        write: shows one or more lines.
        text: how boards and actions are written; its settings say whether VALUES and PERFECT are shown at first.
    """

    def __init__(self, session: Session, write: Callable[[str], None], text: ConsoleText) -> None:
        self.session, self.game, self.write, self.text = session, session.game, write, text
        is_small = (self.game.num_squares or 0) <= MOST_SQUARES
        self.shows = {VALUES: is_small if text.settings.values is None else text.settings.values}
        self.shows[PERFECT] = text.settings.perfect
        self._has_explained = False

    def show_or_hide(self, what: str, argument: str) -> None:
        """Show or hide VALUES or PERFECT: `argument` is "on", "off", or empty to change between them.

        Raises NotNowError for another argument, and if the game has no perfect values.
        """
        argument = argument.lower()
        if argument not in ("", "on", "off"):
            raise NotNowError(f"write {what} on or {what} off")
        shown = argument == "on" or (argument == "" and not self.shows[what])
        if what == PERFECT and shown and perfect_player_of(self.game) is None:
            self.shows[what] = False
            raise NotNowError(f"{self.game.presentation.title} is too large to be solved")
        self.shows[what] = shown
        self.write(f"{what} {'on' if shown else 'off'}")

    def show(self, *, with_values: bool) -> Estimate | None:
        """Write the board with the values of each action; returns the player's values if `with_values`."""
        with notice_when_slow(self.write):
            estimate = self.session.estimate() if with_values else None
        columns = self._perfect_columns() if self.shows[PERFECT] else []
        if estimate is not None and estimate.best is not None and not (estimate.is_exact and columns):
            columns.insert(0, self._column(estimate, self._heading(estimate)))
        if columns:
            self._write_columns(columns)
            self._explain(estimate)
        elif None not in self.session.seats:
            self.write(self.text.board(self.session.match.state))
        if estimate is not None and estimate.visits is not None and self.text.settings.verbose:
            self.write(self.text.visits(estimate.visits.tolist(), self.session.match.state))
        return estimate

    def _heading(self, estimate: Estimate) -> str:
        unit = f", in {self.game.presentation.point_name}" if estimate.in_points else ""
        return f"What {estimate.player.name} expects of each action{unit}:"

    def _column(self, estimate: Estimate, heading: str) -> ValueColumn:
        has_scores = estimate.is_exact and estimate.kind != "results"
        return ValueColumn(heading, estimate.values, has_scores, estimate.in_points, estimate.neutral)

    def _explain(self, estimate: Estimate | None) -> None:
        """Explain to a person what estimates are, when the first ones are shown."""
        if self._has_explained or estimate is None or None not in self.session.seats:
            return
        if not estimate.is_exact and not isinstance(estimate.player, PerfectPlayer):
            against = (
                "the best replies that it sees" if _assumes_best_replies(estimate.player) else "players that may err"
            )
            self.write(f"Estimates for the player to move, against {against}; {estimate.neutral:g} is even.")
            self._has_explained = True

    def show_to_choose(self) -> None:
        """Write the board in which a person is to choose an action, with perfect values if they are shown."""
        if self.shows[PERFECT] and (columns := self._perfect_columns()):
            self._write_columns(columns)
        else:
            self.write(self.text.board(self.session.match.state, marked=self.text.settings.legal))

    def _write_columns(self, columns: list[ValueColumn]) -> None:
        """Write the board with these values; below exact scores, if they are shown, also what the best action is."""
        self.write(self.text.boards(self.session.match.state, columns))
        if self.shows[PERFECT] and self._has_scores:
            self._write_best()

    def _perfect_columns(self) -> list[ValueColumn]:
        """Perfect values with their heading; none if there are none."""
        values = self._perfect_values()
        return [] if values is None else [ValueColumn(HEADINGS[self._has_scores], values, self._has_scores)]

    # ------------------------------------------------------------------ verdicts and hints

    def show_verdict(self, ply: Ply) -> None:
        """Write which actions would have been best instead of the last ply, if perfect play is shown."""
        if not self.shows[PERFECT]:
            return
        before = len(self.session.plies) - 1
        values, perfect = self._perfect_values(before), perfect_player_of(self.game)
        if values is None or perfect is None:
            return
        state, best = self.session.match.state_before(before), best_actions(values)
        outcome, best_outcome = (perfect.value_text(float(values[action]), state) for action in (ply.action, best[0]))
        one, other = float(values[ply.action]), float(values[best[0]])
        grade = grade_of(one, other, perfect.value_kind, is_exact=True)
        graded = "" if grade is None else f", {'an' if grade == 'inaccuracy' else 'a'} {grade}"
        said = f"Perfect play: {self.text.action(ply.action, state)} {outcome}{graded}"
        names = " or ".join(self.text.actions(best, state))
        if ply.action in best:
            self.write(f"{said}, and no other action is better.")
        elif np.sign(values[ply.action]) != np.sign(values[best[0]]):
            self.write(f"{said}; {names} would have been best ({best_outcome}).")
        else:
            # The same result, only sooner, later, or by other points.
            verb, *rest = best_outcome.split(" ")
            self.write(f"{said}; {names} would have {' '.join([PARTICIPLES[verb], *rest])}.")

    @cached_property
    def _judge(self) -> Judge:
        return judge_of(self.game, Path(self.text.settings.run_dir), in_background=True)

    def show_hint(self) -> None:
        """Write the best action that is known, why, and what follows. Raises NotNowError if the match is over."""
        with notice_when_slow(self.write):
            given = hint(self.session, self._judge)
        estimate, name = given.estimate, self.text.action_in_words(given.action, self.session.match.state)
        heading = HEADINGS[estimate.kind != "results"] if estimate.is_exact else self._heading(estimate)
        self.write(self.text.boards(self.session.match.state, [self._column(estimate, heading)]))
        if words := estimate.words(given.action):
            said = f"Perfect play: {name} {words}"
        else:
            because = self.text.because(None, estimate.value(given.action), None, in_points=estimate.in_points)
            said = f"{estimate.player.name} would play {name}{because}"
        line = f" Best line: {self.text.line(given.line, self.session.match.state)}." if len(given.line) > 1 else ""
        self.write(f"{said}.{line}")

    @property
    def _has_scores(self) -> bool:
        """Whether perfect values are exact scores rather than results."""
        perfect = perfect_player_of(self.game)
        return perfect is not None and perfect.value_kind != "results"

    def _write_best(self) -> None:
        values, perfect = self._perfect_values(), perfect_player_of(self.game)
        if values is not None and perfect is not None:
            best = best_actions(values)
            words = perfect.value_text(float(values[best[0]]), self.session.match.state)
            names = " or ".join(self.text.action_in_words(action, self.session.match.state) for action in best)
            self.write(f"Perfect play: {names} {words}.")

    def _perfect_values(self, ply: int | None = None) -> Values | None:
        with notice_when_slow(self.write, STILL_SOLVING):
            return perfect_action_values(self.session, ply)


def _assumes_best_replies(player: Player) -> bool:
    """Whether its values are those of minimax, and not learned from matches with exploration."""
    inner = player.unwrapped
    if isinstance(inner, ReadOnlyExperiencePlayer):
        return inner.store.rule.backup == "minimax"
    return isinstance(inner, SearchPlayer)


def draw_graph(session: Session, picture: PictureSettings) -> str:
    """Draw the known boards that follow the current one, and return what was drawn, in one line.

    Raises NotNowError if there is nothing to draw.
    """
    # matplotlib takes as long to import as the rest of the program.
    from selfplay.figures.experience_graph import boards_ahead, draw_boards_ahead

    inner = [player.unwrapped for player in session.players if player is not None]
    store = next((player.store for player in inner if isinstance(player, ReadOnlyExperiencePlayer)), None)
    if store is None:
        raise NotNowError("no player here keeps an experience graph")
    squares = tuple(session.game.squares(session.match.state)[0].tolist())
    ahead = boards_ahead(store, squares, picture)
    if ahead is None:
        raise NotNowError("this board is not in the experience graph yet")
    try:
        draw_boards_ahead(ahead, picture.file)
    except (SettingError, StageError) as error:
        # The match continues without the picture.
        raise NotNowError(str(error)) from error
    return f"from this board on, {ahead.counts()}"


@contextmanager
def notice_when_slow(write: Callable[[str], None], notice: str = THINKING) -> Iterator[None]:
    """Write `notice`, or COMPILING while code is being compiled, if the block takes longer than QUIET_SECONDS.

    `write` is called in another thread.
    """
    done = Event()

    def watch() -> None:
        written: set[str] = set()
        while not done.wait(QUIET_SECONDS):
            current = COMPILING if _compilations.running else notice
            if current not in written:
                write(current)
            written.add(current)

    Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


class _Compilations(event.Listener):
    """Counts the functions that numba is compiling; it compiles in one thread at a time."""

    running = 0

    def on_start(self, event: object) -> None:
        self.running += 1

    def on_end(self, event: object) -> None:
        self.running -= 1


_compilations = _Compilations()
cast(Any, event).register("numba:compile", _compilations)
