"""Series of matches between two players: how they are played, and their results, counted with and without copies.

Two players that draw no random numbers repeat the same match from every opening, and copies are not evidence of
strength. Such players begin with random openings unless the caller decides otherwise, and intervals, tests and ratings
count each different match once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch

from selfplay.compute.devices import CPU
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import RESULTS, RunningResults, WinDrawLoss, sign_test, wilson_interval
from selfplay.matches.arena import USUAL_BATCH_SIZE, Players, play_batch, seats_held
from selfplay.players.capabilities import FollowsMatch, capability, learners_among
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.tables import COUNT, SHARE, TEXT, Columns, Row

PlayerId = TypeVar("PlayerId")

MOST_OPENING_PLIES = 8
WORD_BYTES = 8
REPEATS = 8
"""Matches from the initial position that are tried to find out whether two players repeat themselves."""


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


def result_columns(suffix: str = "") -> Columns:
    """The columns of `result_fields`."""
    bounds = (f"{result}_rate_{end}{suffix}" for result in RESULTS for end in ("low", "high"))
    counts = {f"{result}{suffix}": COUNT for result in RESULTS}
    return counts | dict.fromkeys(bounds, SHARE) | {f"word{suffix}": TEXT, f"distinct{suffix}": COUNT}


def result_fields(result: PairResult, suffix: str = "") -> Row:
    """Counts, their 95 % intervals, the sign test and the number of different matches; copies are not evidence."""
    evidence = result.evidence
    fields: Row = {f"word{suffix}": sign_test(evidence), f"distinct{suffix}": result.distinct}
    for name, count in result.results._asdict().items():
        low, high = wilson_interval(getattr(evidence, name), evidence.matches)
        fields |= {f"{name}{suffix}": count, f"{name}_rate_low{suffix}": low, f"{name}_rate_high{suffix}": high}
    return fields


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


@dataclass(frozen=True)
class Series:
    """How the matches of a series are played, whoever the two players are."""

    matches: range
    """The numbers of the matches."""
    key: int
    """The stream of their random numbers, see `stream_key`."""
    alternate: bool = True
    """True: the first player moves first in matches with even numbers and second in the others. False: it moves first
    in all of them."""
    learn: bool = False
    """Whether players that learn from their matches do so."""
    opening_plies: int | None = 0
    """Number of random plies at the start, the same in the matches 2n and 2n + 1. None: 0, or `usual_opening_plies` if
    the players repeat themselves; see `opened`."""
    epsilons: Sequence[float] = ()
    """Exploration rates by ply of both players; empty: they do not explore."""
    seconds: float | None = None
    """Play only the first matches that fit into this time, at least two; None: all."""
    batch_size: int | None = None
    """Number of matches played in lockstep, which changes no match; None: `USUAL_BATCH_SIZE`."""
    device: str = CPU
    """cpu or cuda. Players with networks evaluate positions there from now on."""

    def records(self, game: Game, players: Players) -> Iterator[MatchRecord]:
        """Play the matches, in batches, until they are over or the time is.

        Matches of players that learn or follow their match are played one at a time. A learner is shown each match
        before the next one begins. A forfeited match ends at that ply, and the log says why.

        Args:
            players: may be the same player twice, who then learns once from each match against itself.
        """
        if any(self.epsilons):
            one, other = (EpsilonGreedyPlayer(game, player, self.epsilons) for player in players)
            players = (one, other)
        learners = learners_among(players) if self.learn else {}
        one_at_a_time = learners or any(capability(player, FollowsMatch) for player in players)
        size = 1 if one_at_a_time else self.batch_size or USUAL_BATCH_SIZE
        parts = [self.matches] if self.seconds is None else _parts_within(self.seconds, self.matches)
        for chunk in (part[start : start + size] for part in parts for start in range(0, len(part), size)):
            match = torch.arange(chunk.start, chunk.stop, chunk.step)
            seats = (match % 2 if self.alternate else torch.zeros_like(match)).to(torch.int8)
            record = play_batch(game, players, match, seats, self.key, self.opening_plies or 0, self.device)
            # The result of a forfeited match contains no information about its last position.
            for player, learner in learners.items() if not record.forfeits else ():
                learner.after_match(record, seats_held(players, player, int(seats[0])))
            yield record

    def opened(self, game: Game, players: Players) -> tuple["Series", list[MatchRecord]]:
        """The series with its number of random plies, and those of its matches that were played to find it.

        It is 0, or `usual_opening_plies` if the first matches, played from the initial position, are copies. Players
        that learn from their matches do not repeat them.
        """
        if self.opening_plies is not None:
            return self, []
        opened, tried = replace(self, opening_plies=0), list[MatchRecord]()
        if self.learn and learners_among(players):
            return opened, tried
        counted = CountedMatches(0)
        for record in replace(opened, matches=self.matches[:REPEATS], learn=False).records(game, players):
            counted.add(record)
            tried += record.singly()
            if counted.differ:
                break
        return (replace(self, opening_plies=usual_opening_plies(game)), []) if counted.has_copies else (opened, tried)

    def play(self, game: Game, players: Players, watch: Callable[[MatchRecord], None] | None = None) -> PairResult:
        """Play the matches and count their results for the first player. `watch` is called with each batch of them."""
        series, tried = self.opened(game, players)
        plies = series.opening_plies or 0
        counted = CountedMatches(plies)
        for record in chain(tried, replace(series, matches=self.matches[len(tried) :]).records(game, players)):
            counted.add(record)
            if watch is not None:
                watch(record)
        results = counted.results
        return PairResult(results.by_player, counted.distinct, *results.forfeits, counted.evidence, plies)


class PairSeries(NamedTuple, Generic[PlayerId]):
    """A series of matches between two players, who are made later."""

    pair: tuple[PlayerId, PlayerId]
    series: Series


def _parts_within(seconds: float, matches: range) -> Iterator[range]:
    """Two matches, then at most as many as before, and so on, until the time is over or is too short for two more
    matches."""
    began, size, played = monotonic(), 2, 0
    while played < len(matches) and size >= 2:
        yield matches[played : played + size]
        played = min(played + size, len(matches))
        used = monotonic() - began
        fitting = int((seconds - used) / used * played)
        # Openings are played from both seats, by an even and an odd match.
        size = min(played, fitting) // 2 * 2
