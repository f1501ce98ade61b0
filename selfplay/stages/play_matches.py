"""A series of matches between two players that are chosen by name (selfplay play-matches)."""

import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import RunningResults
from selfplay.matches.arena import Players, results_text
from selfplay.matches.series import CountedMatches, Series, copies_text, openings_text
from selfplay.named_players.make import make_pair
from selfplay.players.capabilities import learners_among
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.settings.matches import MatchSettings
from selfplay.settings.run import Run
from selfplay.stages.pairs import match_file, write_match

log = logging.getLogger(__name__)

REPORTS = 20
"""How many times the results of matches are told, if the settings do not say so."""


class ResultsTold:
    """Tells the results of matches at intervals: beside a progress bar, or in lines of the log; the last ones always in
    a line.

    Args:
        players: those whose status is told too.
        every: the number of matches between two lines; None: a bar, or, where none is visible, lines at usual
            intervals.
        usual: the usual interval; None: a share of all matches.
        by_player: whether wins are counted for the two players, instead of the two seats.
    """

    def __init__(
        self,
        game: Game,
        matches: int,
        progress: ProgressBar,
        *players: Player,
        every: int | None = None,
        usual: int | None = None,
        by_player: bool = False,
    ) -> None:
        self._game, self._matches, self._players, self._by_player = game, matches, players, by_player
        self._bar = (progress if every is None else NoProgress)(total=matches, desc="matches")
        self._told = 0
        self.every = every or usual or -(-matches // REPORTS)

    def tell(self, results: RunningResults) -> None:
        """Tell the results so far, if it is time for it."""
        is_end = results.matches == self._matches
        if results.matches % self.every and not is_end:
            return
        self._bar.update(results.matches - self._told)
        self._bar.set_postfix_str(str(results.by_player))
        self._told = results.matches
        if is_end:
            self.close()
        if is_end or self._bar.disable:
            log.info("%s", results_text(self._game, results, *self._players, by_player=self._by_player))

    def close(self) -> None:
        """End the bar."""
        self._bar.close()


def play_match_series(settings: MatchSettings, progress: ProgressBar = NoProgress) -> RunningResults:
    """Play the matches that `settings` describe.

    The results so far are logged at intervals. Unless the settings name these, a visible progress bar shows instead how
    many matches the first player has won, drawn and lost, and only the last results are logged.

    Raises as `selfplay.named_players.make.make_player`.
    """
    with settings.computing():
        run = Run.of(settings)
        game = run.game
        players = first, second = make_pair(settings.first, settings.second, game, settings.run_dir)
        told = ResultsTold(
            game,
            settings.matches,
            progress,
            *players,
            every=settings.report_every,
            usual=1 if settings.learn and learners_among(players) else None,
            by_player=first.name != second.name,
        )
        with closing(told):
            for counted in _play(run, players, _series(run, players), told.every):
                told.tell(counted.results)
    if counted.has_copies:
        log.info("%s", copies_text(counted.distinct, counted.results.matches))
    return counted.results


def _series(run: Run[MatchSettings], players: Players) -> Series:
    """The series that the settings describe. An interrupted one resumes with the next match numbers."""
    settings = run.settings
    learners = learners_among(players) if settings.learn else {}
    first = max((learner.matches_seen() for learner in learners.values()), default=0)
    return Series(
        range(first, first + settings.matches),
        stream_key(settings.seed, 0, Activity.NAMED_PLAYERS),
        settings.swap,
        settings.learn,
        settings.opening_plies,
        batch_size=settings.batch_size,
        device=run.device,
    )


def _play(run: Run[MatchSettings], players: Players, series: Series, every: int) -> Iterator[CountedMatches]:
    """Play the series; what has been counted so far, after `every` matches and at the end."""
    settings, game = run.settings, run.game
    opened, tried = series.opened(game, players)
    if opened.opening_plies and series.opening_plies is None:
        log.info("%s", openings_text(opened.opening_plies))
    counted = CountedMatches(opened.opening_plies or 0)
    for start in range(0, settings.matches, every):
        part, known = series.matches[start : start + every], tried[start : start + every]
        for record in chain(known, replace(opened, matches=part[len(known) :]).records(game, players)):
            for row in range(len(record.match)) if settings.show or settings.sgf is not None else ():
                number = counted.results.matches + row + 1
                if settings.show:
                    log.info("match %d, %s\n", number, _match_text(game, record, row, players))
                if settings.sgf is not None:
                    write_match(settings.sgf, number, match_file(game, record, row, players))
            counted.add(record)
        yield counted


def _match_text(game: Game, record: MatchRecord, row: int, players: Players) -> str:
    """The match in row `row` of a record of matches between `players`."""
    first, names = int(record.seats[row]), game.presentation.player_names
    seats = ", ".join(f"{name}: {players[seat ^ first].name}" for seat, name in enumerate(names))
    returned = int(record.states[-1].returns[row])
    result = "drawn" if returned == 0 else f"{names[returned < 0]} wins"
    # A match that is forfeited before its first ply has no boards.
    return "\n".join(filter(None, [seats, game.presentation.line_text(record.actions_of(row)), result]))
