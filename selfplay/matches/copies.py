"""Copies of matches: two players that draw no random numbers repeat the same match from every opening.

Copies are not evidence of strength. Such players begin with random openings unless the caller decides otherwise, and
intervals, tests and ratings count each different match once.
"""

from collections.abc import Iterator

import numpy as np

from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import RunningResults, WinDrawLoss

MOST_OPENING_PLIES = 8
WORD_BYTES = 8


def usual_opening_plies(game: Game) -> int:
    """The random plies with which matches of players that repeat themselves begin: an eighth of the longest match,
    rounded up, at most eight. Othello has 390,216 openings of eight plies.
    """
    return min(MOST_OPENING_PLIES, -(-game.max_game_length // 8))


class CountedMatches:
    """The matches of a series so far: all of them, and each different one once.

    Args:
        opening_plies: number of plies of the matches' openings.
    """

    def __init__(self, opening_plies: int) -> None:
        self.opening_plies, self.results = opening_plies, RunningResults()
        self._seen: dict[tuple[int, bytes], int] = {}
        """The return to the first player of each different match: who moves first, and its actions."""
        self._openings: set[tuple[int, bytes]] = set()

    def add(self, record: MatchRecord) -> None:
        """Count the matches of `record`."""
        self.results = self.results.with_record(record)
        returns = record.returns().sign().int().tolist()
        for seat, line, returned in zip(record.seats.tolist(), _lines(record), returns, strict=True):
            self._seen.setdefault((seat, line), returned)
            self._openings.add((seat, line[: WORD_BYTES * self.opening_plies]))

    @property
    def distinct(self) -> int:
        """Number of matches that differ in an action or in who moved first."""
        return len(self._seen)

    @property
    def differ(self) -> bool:
        """Whether matches from the same opening and in the same seats went different ways."""
        return self.distinct > len(self._openings)

    @property
    def has_copies(self) -> bool:
        """Whether matches repeat earlier ones, and none from the same opening in the same seats went another way."""
        return self.distinct < self.results.matches and not self.differ

    @property
    def evidence(self) -> WinDrawLoss[int]:
        """The results without copies, which show how strong the players are, counted for the first player.

        Equal matches of players that draw random numbers are not copies: they are samples like all others.
        """
        if not self.has_copies:
            return self.results.by_player
        returns = list(self._seen.values())
        return WinDrawLoss(returns.count(1), returns.count(0), returns.count(-1))


def _lines(record: MatchRecord) -> Iterator[bytes]:
    """The actions of each match up to its end, in WORD_BYTES bytes each."""
    return (np.trim_zeros(line + 1, "b").tobytes() for line in record.action_sequences().numpy())


def openings_text(plies: int) -> str:
    """The line that says why matches begin with random plies although the user did not set any."""
    return (
        f"these players repeat themselves, so the first {plies} plies are random and both players play each opening "
        "from both sides; opening_plies=0 plays from the initial position"
    )


def copies_text(distinct: int, matches: int) -> str:
    """The line that says that matches are copies of others."""
    return f"only {distinct} of the {matches} matches differ, the others are copies"
