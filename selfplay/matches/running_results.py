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
        return self._text(self.by_seat, game.presentation.player_names)

    def by_player_text(self, names: tuple[str, str]) -> str:
        """Counts and shares by player."""
        return self._text(self.by_player, names)

    def _text(self, counts: WinDrawLoss[int], names: tuple[str, str]) -> str:
        won, drawn, lost = (f"{count} ({rate:.3f})" for count, rate in zip(counts, counts.rates, strict=True))
        forfeits = f", by forfeit {sum(self.forfeits)}" if any(self.forfeits) else ""
        return f"{names[0]} won {won}, {names[1]} won {lost}, drawn {drawn}{forfeits}"


def results_text(game: Game, results: RunningResults, *players: Player, by_player: bool = False) -> str:
    """The results so far, by seat or by the names of the two players, and the status of each that reports one."""
    text = results.by_player_text((players[0].name, players[1].name)) if by_player else results.by_seat_text(game)
    return "; ".join([f"match {results.matches}: {text}", *statuses_of(*players)])


def statuses_of(*players: Player) -> list[str]:
    """The status of each player that reports one."""
    reporting = [player.as_a(ReportsStatus) for player in dict.fromkeys(players)]
    return [str(player.status()) for player in reporting if player is not None]
