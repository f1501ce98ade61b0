"""Matches as they were written: their moves and results, not checked against the rules of a game."""

from collections.abc import Mapping, Sequence
from math import nan
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from selfplay.games import Game
from selfplay.games.state import MATCH_OVER, State, joined

UNKNOWN = -1
"""The seat of a move whose player is not said."""


class WrittenMoves(NamedTuple):
    """The moves of N matches as they were written, not checked against the rules."""

    actions: Tensor
    """int64[N, T]: the actions in order; MATCH_OVER after the last one. Passes may be left out."""
    returns: Tensor
    """float32[N] in {-1, 0, 1}: the result for player 0 as it is written; nan: not known. It counts where the rules do
    not end the match, and in Go, whose players agree on dead stones that the rules here do not find."""
    points: Tensor
    """float64[N]: the lead of player 0 at the end as it is written; nan: not known. It counts as `returns` does."""
    seats: Tensor | None = None
    """int8[N, T]: who makes each move, 0, 1 or UNKNOWN; None: no record says it."""
    starts: State | None = None
    """The positions (B = N) in which the matches begin; None: all at the start of the game."""
    broken: Mapping[int, str] = MappingProxyType({})
    """Why matches could not be read, by their rows. They have no moves."""

    def known_seats(self) -> Tensor:
        """int8[N, T]: `seats`, UNKNOWN where no record says it."""
        if self.seats is not None:
            return self.seats
        return torch.full(self.actions.shape, UNKNOWN, dtype=torch.int8)


class WrittenMatch(NamedTuple):
    """One match as it was written; its fields are those of `WrittenMoves`."""

    actions: Sequence[int]
    returned: float = nan
    points: float = nan
    seats: Sequence[int] | None = None
    start: State | None = None
    """The position (B = 1) in which it begins; None: the start of the game."""


NOTHING = WrittenMatch([])


def written_match(
    moves: Sequence[tuple[int | None, int]], result: tuple[float, float] | None = None, start: State | None = None
) -> WrittenMatch:
    """A match from its moves, each with its player if that is known, and its result for player 0 and in points."""
    seats = [UNKNOWN if player is None else player for player, _ in moves]
    known = None if all(seat == UNKNOWN for seat in seats) else seats
    return WrittenMatch([action for _, action in moves], *(result or (nan, nan)), known, start)


def moves_of(matches: Sequence[WrittenMatch | str], game: Game) -> WrittenMoves:
    """Several matches; a text instead of a match is the reason why it could not be read."""
    read = [NOTHING if isinstance(match, str) else match for match in matches]
    width = max((len(match.actions) for match in read), default=0)
    actions = torch.tensor(
        [[*match.actions, *[MATCH_OVER] * (width - len(match.actions))] for match in read], dtype=torch.int64
    ).reshape(len(read), width)
    seats = starts = None
    if any(match.seats is not None for match in read):
        said = [list(match.seats or [UNKNOWN] * len(match.actions)) for match in read]
        seats = torch.tensor([[*row, *[UNKNOWN] * (width - len(row))] for row in said], dtype=torch.int8)
    if any(match.start is not None for match in read):
        usual = game.init()
        starts = joined([match.start or usual for match in read])
    returns, points = (torch.tensor(column) for column in zip(*((m.returned, m.points) for m in read), strict=True))
    broken = {row: match for row, match in enumerate(matches) if isinstance(match, str)}
    return WrittenMoves(actions, returns.float(), points.double(), seats, starts, broken)


def concatenated(parts: Sequence[WrittenMoves], game: Game) -> WrittenMoves:
    """The matches of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    width = max(part.actions.shape[1] for part in parts)

    def wide(rows: Tensor, value: int) -> Tensor:
        return pad(rows, (0, width - rows.shape[1]), value=value)

    seats = starts = None
    if any(part.seats is not None for part in parts):
        seats = torch.cat([wide(part.known_seats(), UNKNOWN) for part in parts])
    if any(part.starts is not None for part in parts):
        starts = joined([part.starts or game.init(len(part.actions)) for part in parts])
    broken, first = dict[int, str](), 0
    for part in parts:
        broken |= {first + row: reason for row, reason in part.broken.items()}
        first += len(part.actions)
    actions = torch.cat([wide(part.actions, MATCH_OVER) for part in parts])
    returns, points = torch.cat([part.returns for part in parts]), torch.cat([part.points for part in parts])
    return WrittenMoves(actions, returns, points, seats, starts, broken)
