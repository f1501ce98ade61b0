"""Positions of each group, drawn from matches between average players that explore.

Match m is played for group m % 6: of its positions that have the group's number of stones, and from which the match
itself lasted as many plies as the group asks for, one is drawn at random. The solver then decides to which group the
position belongs. It is kept unless the player to move is lost, all actions lead to the same result, it has been drawn
before, or its group is full.

Groups of positions by stage and difficulty, as in the test sets of Pons (blog.gamesolver.org).

The stage is told by the number of stones on the board, the difficulty by the number of plies to the end of best play.
Each is divided into thirds of the number of squares, 14 in Connect Four:

    stones              0-14 begin    15-28 middle    29-42 end
    plies to the end    0-14 easy     15-28 medium    29-42 hard
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import torch

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.games.state import MatchRecord, State
from selfplay.grading.comparison_schedule import average_player
from selfplay.matches.arena import play_matches
from selfplay.players.player_names import make_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.exact_solver import ExactSolver

STAGES = ("begin", "middle", "end")
DIFFICULTIES = ("easy", "medium", "hard")

GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
"""All groups that can exist where each ply fills a square, the easiest first."""


def group_of(stones: int, plies_to_end: int, squares: int) -> str:
    """The name of the group of a position, such as "begin-easy"."""
    return f"{STAGES[_third(stones, squares)]}-{DIFFICULTIES[_third(plies_to_end, squares)]}"


def _third(number: int, squares: int) -> int:
    return min(2, max(0, number - 1) // (squares // 3))


MAX_MATCHES_PER_POSITION = 100
"""Largest number of matches per requested position that are played to find the positions."""
MATCHES_AT_ONCE = 600


class JudgedPosition(NamedTuple):
    """A position, and the exact value of every action."""

    group: str
    state: State
    """One match."""
    values: Mapping[int, int]
    """The value to the player to move of each legal action, in ascending order of actions."""


def choice_matters(values: Mapping[int, int]) -> bool:
    """Whether the player to move wins or draws with one action and gets a worse result with another."""
    best, worst = max(values.values()), min(values.values())
    return best >= 0 and _sign(best) > _sign(worst)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def sample_positions(
    solver: ExactSolver, count: int, key: int, progress: ProgressBar = NoProgress
) -> list[JudgedPosition]:
    """Up to `count` positions of each group, in the order of GROUPS.

    `key`: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
    """
    sampler = _Sampler(solver, count, key)
    with closing(progress(total=count * len(GROUPS), desc="solving positions")) as bar:
        for position in sampler.positions():
            sampler.found[position.group].append(position)
            bar.update(1)
    return [position for group in GROUPS for position in sampler.found[group]]


class _Sampler:
    def __init__(self, solver: ExactSolver, count: int, key: int) -> None:
        self.solver, self.game, self.count, self.key = solver, solver.game, count, key
        assert self.game.num_squares is not None, "games with exact solvers have boards"
        self.squares = self.game.num_squares
        self.found: dict[str, list[JudgedPosition]] = {group: [] for group in GROUPS}
        self.drawn: set[tuple[int, int]] = set()

    def positions(self) -> Iterator[JudgedPosition]:
        """Positions of groups that are not full, in the order of the matches."""
        for record in self._records():
            stones = _stones_by_ply(record)
            for row, match in enumerate(record.match.tolist()):
                group = GROUPS[match % len(GROUPS)]
                plies = [] if self._is_full(group) else self._plies_of(stones[row], group)
                if plies and (position := self._judged(self._drawn(record, row, plies))) is not None:
                    yield position
            if all(map(self._is_full, GROUPS)):
                return

    def _records(self) -> Iterator[MatchRecord]:
        player = make_player(average_player(self.game), self.game, "")
        matches = range(MAX_MATCHES_PER_POSITION * self.count * len(GROUPS))
        return play_matches(self.game, (player, player), matches, self.key, learn=False, batch_size=MATCHES_AT_ONCE)

    def _plies_of(self, stones: Sequence[int], group: str) -> list[int]:
        """The plies of a match whose positions may belong to the group. `stones`: before each of its plies."""
        lengths = range(len(stones), 0, -1)
        groups = [group_of(number, length, self.squares) for number, length in zip(stones, lengths, strict=True)]
        return [ply for ply, found in enumerate(groups) if found == group]

    def _drawn(self, record: MatchRecord, row: int, plies: Sequence[int]) -> State:
        """The position of match `row` at one of `plies`."""
        match = record.match[row : row + 1]
        bits = Draws(self.key, match, 0).bits(Purpose.POSITION)
        return record.states[plies[int(below(bits, len(plies)))]].select(torch.tensor([row]))

    def _judged(self, state: State) -> JudgedPosition | None:
        """The position with its values; None if it is not to be kept."""
        bitboards = int(state.own), int(state.opp)
        if bitboards in self.drawn:
            return None
        self.drawn.add(bitboards)
        value = self.solver.value(state)
        group = group_of(sum(map(int.bit_count, bitboards)), self.solver.plies_to_end(value, state), self.squares)
        if value < 0 or group not in GROUPS or self._is_full(group):
            return None
        values = self.solver.action_values(state)
        return JudgedPosition(group, state, values) if choice_matters(values) else None

    def _is_full(self, group: str) -> bool:
        return len(self.found[group]) == self.count


def _stones_by_ply(record: MatchRecord) -> list[list[int]]:
    """The number of stones before each ply of each match."""
    counts = torch.stack([bit_count(state.own | state.opp) for state in record.states], dim=1)
    lengths = torch.stack([~state.terminated for state in record.states]).sum(dim=0).tolist()
    return [row[:length] for row, length in zip(counts.tolist(), lengths, strict=True)]
