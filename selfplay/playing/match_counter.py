"""Counts the finished matches of a session, and passes each of them to the players that learn."""

from selfplay.games.match_record import MatchRecord
from selfplay.matches.arena import seats_held
from selfplay.matches.running_results import RunningResults
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.player import Player
from selfplay.playing.seated_match import Players


class MatchCounter:
    """Counts each match once, with the result of its first end.

    Attributes:
        results: the matches counted so far.
        is_counted: whether the current match has been counted.
    """

    def __init__(self) -> None:
        self.results = RunningResults()
        self.start_match()

    def start_match(self) -> None:
        """Begin a match that has not been counted."""
        self.is_counted = False
        self._have_learned: list[Player] = []

    def count(self, record: MatchRecord, players: Players, first_player: int) -> None:
        """Count the match that has ended, and pass it to the players that learn unless it was forfeited.

        Args:
            record: the match (B = 1).
            first_player: which of `players` (0 or 1) moved first.

        If a learner raises an error, the match is not counted; when `count` is called again, it is passed only to the
        learners that have not learned from it yet.
        """
        for player, learner in learners_among(players).items():
            if player not in self._have_learned and not record.forfeits:
                learner.after_match(record, seats_held(players, player, first_player))
                self._have_learned.append(player)
        self.results = self.results.with_record(record)
        self.is_counted = True


def learners_among(players: Players) -> dict[Player, LearnsFromMatches]:
    """The players that learn, each once."""
    learners = {player: player.as_a(LearnsFromMatches) for player in players if player is not None}
    return {player: learner for player, learner in learners.items() if learner is not None}
