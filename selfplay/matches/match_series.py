"""Matches between two named players, with running counts."""

import logging
from collections.abc import Callable
from typing import NamedTuple

import torch

from selfplay.compute.devices import chosen_device
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game, make_game
from selfplay.games.match_record import MatchRecord
from selfplay.matches.arena import play_matches
from selfplay.players.capabilities import LearnsFromMatches, ReportsStatus
from selfplay.players.player import Player
from selfplay.players.registry import make_player
from selfplay.settings.matches import MatchSettings

log = logging.getLogger(__name__)

LINES_OF_PROGRESS = 20


class Results(NamedTuple):
    """How the matches so far ended, counted by seat and by player."""

    first_seat: int = 0
    """Won by who moved first."""
    second_seat: int = 0
    first: int = 0
    """Won by the first of the two players, in whichever seat."""
    second: int = 0
    draws: int = 0
    forfeits: int = 0
    """How many of the matches that were won, were won by the other's forfeit."""

    @property
    def matches(self) -> int:
        return self.first + self.second + self.draws

    def __str__(self) -> str:
        counts = f"first={self.first} second={self.second} draws={self.draws}"
        return f"{counts} forfeits={self.forfeits}" if self.forfeits else counts

    def with_record(self, record: MatchRecord) -> "Results":
        """These results and those of `record`."""
        by_seat, by_player = record.states[-1].returns, record.returns()
        ended = (by_seat > 0, by_seat < 0, by_player > 0, by_player < 0, by_seat == 0)
        new = (*(int(these.sum()) for these in ended), len(record.forfeits))
        return Results(*(count + more for count, more in zip(self, new, strict=True)))

    def by_seat(self, game: Game) -> str:
        """Counts and rates by seat, in the words of the game."""
        counts = (self.first_seat, self.second_seat, self.draws)
        texts = [f"{count} ({count / self.matches:.3f})" for count in counts]
        one, other = game.player_names
        forfeits = f", by forfeit {self.forfeits}" if self.forfeits else ""
        return f"{one} won {texts[0]}, {other} won {texts[1]}, drawn {texts[2]}{forfeits}"


def play_match_series(settings: MatchSettings) -> Results:
    """Play the matches that `settings` describe, and log how they stand now and then.

    Raises as `selfplay.players.registry.make_player`.
    """
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    first = make_player(settings.first, game, settings.run_dir)
    # One name is one player, so that one that learns sees each of its matches against itself once.
    second = first if settings.second == settings.first else make_player(settings.second, game, settings.run_dir)
    return _play(
        settings, game, (first, second), lambda results: log.info("%s", standing(game, results, first, second))
    )


def _play(
    settings: MatchSettings, game: Game, players: tuple[Player, Player], report: Callable[[Results], None]
) -> Results:
    every = settings.report_every or _matches_between_reports(settings, players)
    key = stream_key(settings.seed, 0, Activity.NAMED_PLAYERS)
    results = Results()
    # A series that was killed goes on with the numbers that come next: the same matches as in one go.
    learners = [player.as_a(LearnsFromMatches) for player in players if settings.learn]
    first = max((learner.matches_seen() for learner in learners if learner is not None), default=0)
    last = first + settings.matches
    for start in range(first, last, every):
        part = range(start, min(start + every, last))
        for record in play_matches(
            game,
            players,
            part,
            key,
            alternate=settings.swap,
            learn=settings.learn,
            opening_plies=settings.opening_plies,
            batch_size=settings.batch_size,
            device=chosen_device(settings.device),
        ):
            results = results.with_record(record)
        report(results)
    return results


def _matches_between_reports(settings: MatchSettings, players: tuple[Player, Player]) -> int:
    if settings.learn and any(player.as_a(LearnsFromMatches) is not None for player in players):
        return 1
    return max(1, settings.matches // LINES_OF_PROGRESS)


def standing(game: Game, results: Results, *players: Player) -> str:
    """How the matches so far ended, by seat, and what each player that has something to say of itself says."""
    reporting = [player.as_a(ReportsStatus) for player in dict.fromkeys(players)]
    known = [str(player.status()) for player in reporting if player is not None]
    return "; ".join([f"match {results.matches}: {results.by_seat(game)}", *known])
