"""Results of matches between two players, counted, with what they tell for certain and what they leave open."""

from collections import Counter
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm

from selfplay.compute.devices import CPU
from selfplay.games import Game
from selfplay.matches.arena import play_matches
from selfplay.players.player import Player

CONFIDENCE = 0.95
RESULTS = ("wins", "draws", "losses")


class Tally(NamedTuple):
    """Results of matches between two players, counted for the first of them."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """How many of the matches differ in an action or in who moved first."""
    forfeits: int = 0
    """How many of the losses are matches that the player gave up by a fault."""
    opponent_forfeits: int = 0
    """How many of the wins are matches that the opponent gave up by a fault."""

    @property
    def matches(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The points for each match, from 0 to 1: a draw is half a point."""
        return (self.wins + self.draws / 2) / self.matches

    def score_interval(self) -> tuple[float, float]:
        """The 95 % interval (Wilson, 1927) of the score, as if each point were won or lost; draws make it wider."""
        z2 = float(norm.ppf((1 + CONFIDENCE) / 2)) ** 2
        n, p = self.matches, self.score
        middle, half = p + z2 / (2 * n), sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
        return (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)

    def interval(self, count: int) -> tuple[float, float]:
        """The 95 % interval (Wilson, 1927) of the rate behind `count` of the matches."""
        ci = binomtest(count, self.matches).proportion_ci(CONFIDENCE, method="wilson")
        return float(ci.low), float(ci.high)

    @property
    def word(self) -> str:
        """Whether wins and losses can be told apart, by an exact sign test at the 5 % level."""
        decided = self.wins + self.losses
        if decided == 0 or binomtest(self.wins, decided).pvalue >= 1 - CONFIDENCE:
            return "not told apart"
        return "better" if self.wins > self.losses else "worse"


def tally_matches(
    game: Game,
    players: tuple[Player, Player],
    matches: int,
    key: int,
    batch_size: int | None,
    opening_plies: int = 0,
    device: str = CPU,
) -> Tally:
    """Play `matches` matches, the first player moving first in the even ones, and count. No player learns from them.

    `batch_size`, `opening_plies`, `device`: as for `selfplay.matches.arena.play_matches`.
    """
    wins = draws = losses = 0
    forfeits: Counter[int] = Counter()
    seen: set[tuple[int, bytes]] = set()
    records = play_matches(
        game,
        players,
        range(matches),
        key,
        learn=False,
        opening_plies=opening_plies,
        batch_size=batch_size,
        device=device,
    )
    for record in records:
        returns = record.returns()
        wins, losses = wins + int((returns > 0).sum()), losses + int((returns < 0).sum())
        draws += int((returns == 0).sum())
        forfeits.update(forfeit.player for forfeit in record.forfeits)
        lines = (np.trim_zeros(line + 1, "b").tobytes() for line in record.action_sequences().numpy())
        seen.update(zip(record.seats.tolist(), lines, strict=True))
    return Tally(wins, draws, losses, len(seen), forfeits[0], forfeits[1])


def tally_columns(tally: Tally | None, suffix: str = "") -> dict[str, object]:
    """The counts, their 95 % intervals, the word and the distinct matches as columns of a table, named with `suffix`.

    None in all of them without a tally.
    """
    columns: dict[str, object] = {}
    for result in RESULTS:
        columns[f"{result}{suffix}"] = None if tally is None else getattr(tally, result)
    for result in RESULTS:
        low, high = (None, None) if tally is None else tally.interval(getattr(tally, result))
        columns |= {f"{result}_rate_low{suffix}": low, f"{result}_rate_high{suffix}": high}
    columns[f"word{suffix}"] = None if tally is None else tally.word
    columns[f"distinct{suffix}"] = None if tally is None else tally.distinct
    return columns
