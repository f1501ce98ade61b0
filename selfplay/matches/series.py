"""Series of matches between two players: their results, counted without copies."""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from selfplay.compute.devices import CPU
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.matches.arena import Players, play_matches
from selfplay.matches.copies import CountedMatches, first_matches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

PlayerId = TypeVar("PlayerId")


class PairResult(NamedTuple):
    """Results of a series of matches between two players, counted for the first of them."""

    results: WinDrawLoss[int]
    distinct: int
    """Number of matches that differ in an action or in who moved first."""
    forfeits: int
    opponent_forfeits: int
    evidence: WinDrawLoss[int]
    """The results without copies, for intervals, tests and ratings: see `CountedMatches.evidence`."""
    opening_plies: int
    """Number of random plies at the start of each match."""


class PairMatches(NamedTuple, Generic[PlayerId]):
    """A series of matches between two players, who are made later."""

    pair: tuple[PlayerId, PlayerId]
    matches: int
    key: int
    """The stream of random numbers of the matches, as for `selfplay.matches.arena.play_matches`."""
    opening_plies: int | None = 0
    """As for `count_matches`."""
    epsilons: Sequence[float] = ()
    """Exploration rates by ply of both players."""
    seconds: float | None = None
    """As for `count_matches`."""

    def play(self, game: Game, players: Players, batch_size: int | None = None, device: str = CPU) -> PairResult:
        """Play the series. The players do not learn from it."""
        if any(self.epsilons):
            one, other = (EpsilonGreedyPlayer(game, player, self.epsilons) for player in players)
            players = (one, other)
        plies, seconds = self.opening_plies, self.seconds
        return count_matches(game, players, self.matches, self.key, batch_size, plies, device, seconds=seconds)


def count_matches(
    game: Game,
    players: Players,
    matches: int,
    key: int,
    batch_size: int | None = None,
    opening_plies: int | None = 0,
    device: str = CPU,
    *,
    alternate: bool = True,
    seconds: float | None = None,
) -> PairResult:
    """Play `matches` matches and count their results for the first player.

    The players do not learn from the matches. `key`, `batch_size`, `opening_plies`, `device`, `alternate`: as for
    `selfplay.matches.arena.play_matches`; `opening_plies` None: as `first_matches` says. `seconds`: play only
    the first matches that fit into this time, at least two; None: all.
    """
    tried: list[MatchRecord] = []
    if opening_plies is None:
        opening_plies, tried = first_matches(game, players, matches, key, batch_size, device, alternate=alternate)
    counted = CountedMatches(opening_plies)
    for record in tried:
        counted.add(record)
    for part in [range(len(tried), matches)] if seconds is None else _parts_within(seconds, matches):
        for record in play_matches(
            game,
            players,
            part,
            key,
            alternate=alternate,
            learn=False,
            opening_plies=opening_plies,
            batch_size=batch_size,
            device=device,
        ):
            counted.add(record)
    results = counted.results
    return PairResult(results.by_player, counted.distinct, *results.forfeits, counted.evidence, opening_plies)


def _parts_within(seconds: float, matches: int) -> Iterator[range]:
    """Two matches, then at most as many as before, and so on, until the time is over or is too short for two more
    matches."""
    began, size, played = monotonic(), 2, 0
    while played < matches and size >= 2:
        yield range(played, min(played + size, matches))
        played = min(played + size, matches)
        used = monotonic() - began
        fitting = int((seconds - used) / used * played)
        # Openings are played from both seats, by an even and an odd match.
        size = min(played, fitting) // 2 * 2
