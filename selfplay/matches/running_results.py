"""Results of a series of matches between two players, counted while it is played."""

from typing import NamedTuple

from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import WinDrawLoss, total
from selfplay.players.capabilities import ReportsStatus
from selfplay.players.player import Player

NO_MATCHES = WinDrawLoss(0, 0, 0)


class RunningResults(NamedTuple):
    """The matches played so far, counted by player and by seat."""

    by_player: WinDrawLoss[int] = NO_MATCHES
    """Counted for the first of the two players, in whichever seat."""
    by_seat: WinDrawLoss[int] = NO_MATCHES
    """Counted for the player who moves first."""
    forfeits: tuple[int, int] = (0, 0)
    """Number of matches that each of the two players forfeited, and so lost."""

    @property
    def matches(self) -> int:
        return self.by_player.matches

    def __str__(self) -> str:
        first, draws, second = self.by_player
        counts = f"first={first} second={second} draws={draws}"
        return f"{counts} forfeits={sum(self.forfeits)}" if any(self.forfeits) else counts

    def with_record(self, record: MatchRecord) -> "RunningResults":
        """The results with those of `record` added."""
        by_player, by_seat = (
            WinDrawLoss(*(int(ended.sum()) for ended in (returns > 0, returns == 0, returns < 0)))
            for returns in (record.returns(), record.states[-1].returns)
        )
        losers = [forfeit.player for forfeit in record.forfeits]
        forfeits = self.forfeits[0] + losers.count(0), self.forfeits[1] + losers.count(1)
        return RunningResults(total([self.by_player, by_player]), total([self.by_seat, by_seat]), forfeits)

    def by_seat_text(self, game: Game) -> str:
        """Counts and shares by seat, in the words of the game."""
        won, drawn, lost = (
            f"{count} ({rate:.3f})" for count, rate in zip(self.by_seat, self.by_seat.rates, strict=True)
        )
        one, other = game.presentation.player_names
        forfeits = f", by forfeit {sum(self.forfeits)}" if any(self.forfeits) else ""
        return f"{one} won {won}, {other} won {lost}, drawn {drawn}{forfeits}"


def results_text(game: Game, results: RunningResults, *players: Player) -> str:
    """The results so far, by seat, and the status of each player that reports one."""
    return "; ".join([f"match {results.matches}: {results.by_seat_text(game)}", *statuses_of(*players)])


def statuses_of(*players: Player) -> list[str]:
    """The status of each player that reports one."""
    reporting = [player.as_a(ReportsStatus) for player in dict.fromkeys(players)]
    return [str(player.status()) for player in reporting if player is not None]
