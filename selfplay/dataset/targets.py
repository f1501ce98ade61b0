"""From the plies of matches to (afterstate, expected return) rows."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.game import Game
from selfplay.games.match_outcome import outcome_of_first
from selfplay.games.match_record import MATCH_OVER, MatchRecord

Viewpoints = Literal["both", "agent"]


class Rows(NamedTuple):
    """N afterstates with their targets, ordered by match and ply."""

    match: NDArray[np.int64]
    """int64[N]: the match that the afterstate stood in."""
    ply: NDArray[np.int32]
    """int32[N]: the ply that led to it, from 0."""
    observations: NDArray[np.uint8]
    """uint8[N, D]: 0 or 1, the flattened observation of the player who has just moved."""
    targets: NDArray[np.float32]
    """float32[N] in [-1, 1]: that player's discounted outcome."""

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> "Rows":
        """The rows where `chosen` (bool[N]) is true, or of these numbers (int64[K])."""
        return Rows(self.match[chosen], self.ply[chosen], self.observations[chosen], self.targets[chosen])

    def between(self, start: int, end: int) -> "Rows":
        """Rows `start` to `end`, the last one not included."""
        one = slice(start, end)
        return Rows(self.match[one], self.ply[one], self.observations[one], self.targets[one])


def concatenated(parts: Sequence[Rows]) -> Rows:
    """All rows of `parts`, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        np.concatenate([rows.match for rows in parts]),
        np.concatenate([rows.ply for rows in parts]),
        np.concatenate([rows.observations for rows in parts]),
        np.concatenate([rows.targets for rows in parts]),
    )


def expectation_rows(
    game: Game,
    record: MatchRecord,
    gamma: float,
    viewpoints: Viewpoints = "both",
    outcome: str = "return",
    forgone: Sequence[Tensor] | None = None,
) -> Rows:
    """The rows of a batch of matches.

    The target of the afterstate that a player's move leads to is z * gamma**k (Sutton & Barto, section 3.3, with the
    return at the end only): z the player's return or its lead in points, k the number of moves that this player makes
    later in the match. A pass is no move: it gives no row and does not count.

    Args:
        gamma: discount in [0, 1].
        viewpoints: "both" keeps the moves of both players, "agent" only those of the first of the two.
        outcome: "return", or "disc_difference", the lead in points over the number of squares.
        forgone: as `selfplay.dataset.forgone_values`. Where there is such a value, it stands for z in the plies before,
            as if the match had ended there with the best action: what followed an action that only explored
            says nothing of them (Watkins's Q(lambda) with lambda = 1; Sutton & Barto, section 12.10).

    Raises SettingError if the outcome counts points and the game does not.
    """
    moves_later = torch.zeros(len(record.match), 2, dtype=torch.int64)
    powers = torch.tensor([gamma**k for k in range(len(record.actions) + 1)], dtype=torch.float64)
    of_first = outcome_of_first(game, record.states[-1], outcome).clone()
    parts = []
    for ply in reversed(range(len(record.actions))):
        action, mover = record.actions[ply], record.states[ply].current_player
        moved = action != MATCH_OVER
        if game.pass_action is not None:
            moved &= action != game.pass_action
        kept = moved if viewpoints == "both" else moved & (mover == record.seats)
        rows = kept.nonzero()[:, 0]
        k = moves_later[rows, mover[rows].long()]
        targets = torch.where(mover == 0, of_first, -of_first)[rows] * powers[k] + 0.0
        afterstates = record.states[ply + 1].select(rows)
        parts.append((record.match[rows], torch.full_like(rows, ply), game.observation_bits(afterstates), targets))
        if forgone is not None:
            cut = ~forgone[ply].isnan()
            of_first[cut] = torch.where(mover == 0, forgone[ply], -forgone[ply])[cut].clamp(-1, 1)
            moves_later[cut] = 0
        moves_later.scatter_add_(1, mover.long()[:, None], moved.long()[:, None])
    return _by_match(parts[::-1])


def _by_match(parts: list[tuple[Tensor, Tensor, Tensor, Tensor]]) -> Rows:
    match, ply, observations, targets = (torch.cat(column).numpy() for column in zip(*parts, strict=True))
    order = np.argsort(match, kind="stable")
    return Rows(match[order], ply[order].astype(np.int32), observations[order], targets[order].astype(np.float32))
