"""The rows of a dataset, made from played matches and their targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, store, word_rows
from selfplay.compute.random_numbers import Draws
from selfplay.dataset.rows import Rows
from selfplay.dataset.searched_targets import with_values
from selfplay.dataset.target_rules import (
    PlayedMatches,
    PositionTargets,
    TargetRule,
    discounted_outcomes,
    is_move,
    players_to_move,
)
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import MatchRecord, State
from selfplay.players.exploring import opening_lengths


def match_rows(played: PlayedMatches, rule: TargetRule, viewpoints: str = "both") -> Rows:
    """The rows of a batch of matches, ordered by match and ply: one for each move.

    With a rule that `gives_policies`: one for each position in which an action was chosen.

    Args:
        rule: computes the targets.
        viewpoints: "both" keeps the moves of both players, "agent" only those of the first of the two.

    Raises SettingError if the targets of `rule` have another shape or are not in [-1, 1].
    """
    targets = rule(played)
    if getattr(rule, "gives_policies", False):
        return _position_rows(played.record, targets)
    if played.value_share > 0:
        targets = with_values(played, targets)
    draws = Draws(played.key, played.record.match, 0)
    openings = opening_lengths(draws, played.opening_plies) if played.opening_plies else None
    return afterstate_rows(played.game, played.record, targets, viewpoints, openings)


def afterstate_rows(
    game: Game, record: MatchRecord, targets: Tensor, viewpoints: str = "both", openings: Tensor | None = None
) -> Rows:
    """The rows of a batch of matches with these targets (float[T, B]): one for each move.

    Args:
        viewpoints: as for `match_rows`.
        openings: int64[B], the number of random plies at the start of each match; positions before these plies become
            no rows.

    Raises SettingError if `targets` has another shape or is not in [-1, 1].
    """
    kept = is_move(game, record.action_sequences().T)
    if openings is not None:
        kept &= torch.arange(1, len(kept) + 1)[:, None] >= openings
    if viewpoints == "agent":
        kept &= players_to_move(record)[:-1] == record.seats
    _check(targets, kept)
    return _rows(record, kept.numpy(), targets.to(torch.float32).numpy(), record.states[1:])


def discounted_rows(game: Game, record: MatchRecord, gamma: float = 1.0) -> Rows:
    """The rows of a batch of matches, with the discounted return of the player who is not to move as targets.

    Args:
        gamma: the discount in [0, 1] for each further move of the same player.
    """
    return afterstate_rows(game, record, discounted_outcomes(game, record, gamma))


def _position_rows(record: MatchRecord, targets: PositionTargets) -> Rows:
    """The rows of the positions before the plies, with their policies."""
    value, policy, is_row = targets
    _check(value, is_row)
    rows = _rows(record, is_row.numpy(), value.to(torch.float32).numpy(), record.states[:-1])
    # In the order of `rows`: by match, then by ply.
    by_match = torch.argsort(record.match, stable=True)
    chosen = is_row[:, by_match].T
    policies = policy[:, by_match].transpose(0, 1)[chosen].to(torch.float32)
    return rows._replace(ply=rows.ply - np.int32(1), policy=policies.numpy())


def _check(targets: Tensor, kept: Tensor) -> None:
    if targets.shape != kept.shape:
        raise SettingError(f"targets: the rule gives targets of shape {[*targets.shape]}; {[*kept.shape]} are needed")
    invalid = ~(targets.abs() <= 1) & kept
    if bool(invalid.any()):
        value = float(targets[invalid][0])
        raise SettingError(f"targets: the rule gives a target of {value:g}; targets must be from -1 to 1")


def _rows(record: MatchRecord, kept: NDArray[np.bool_], targets: NDArray[np.float32], states: Sequence[State]) -> Rows:
    """The rows of the plies that `kept` (bool[T, B]) marks, with T of the positions of `record`."""
    match = record.match.numpy()
    by_match, counts = np.argsort(match, kind="stable"), kept.sum(axis=0)
    next_row = np.empty(len(match), dtype=np.int64)
    next_row[by_match] = np.cumsum(counts[by_match]) - counts[by_match]
    size = int(counts.sum())
    positions = size, record.states[0].position.shape[1]
    shapes = [("int64", size), ("int32", size), ("int64", positions), ("float32", size)]
    columns: list[Any] = [np.empty(shape, dtype) for dtype, shape in shapes]
    rows = Rows(*columns)
    written = rows._replace(position=word_rows(rows.position))
    for ply, state in enumerate(states):
        _place_ply(ply, kept[ply], match, word_rows(state.position), targets[ply], next_row, written)
    return rows


@compiled
def _place_ply(
    ply: int,
    kept: NDArray[np.bool_],
    match: NDArray[np.int64],
    positions: Words,
    target: NDArray[np.float32],
    next_row: NDArray[np.int64],
    rows: Rows,
) -> None:
    """Write the rows of one ply of B matches to the places `next_row` (int64[B]), and advance these."""
    for i in range(len(match)):
        if kept[i]:
            row = next_row[i]
            rows.match[row], rows.ply[row], rows.target[row] = match[i], ply, target[i]
            store(rows.position, row, load(positions, i))
            next_row[i] = row + 1
