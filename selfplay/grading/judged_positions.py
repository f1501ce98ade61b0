"""Positions with the exact value of every action, as a test for players, and their file.

RUN_DIR/comparison/judged_positions.csv    a row per action: position,group,own,opp,to_move,action,value
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.grading.comparison_schedule import average_player
from selfplay.grading.judged_position_sampler import GROUPS, JudgedPosition, sample_positions
from selfplay.grading.table_columns import Column, read_rows, table_of, write_csv
from selfplay.players.capabilities import policy_of
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.search.exact_solver import ExactSolver

log = logging.getLogger(__name__)

SECTION = "judged_positions"
"""The section of comparison/manifest.json that describes the file."""
POSITION_TABLE = "a table of judged positions; delete it and compare the levels again"


class JudgedAction(NamedTuple):
    """A row of judged_positions.csv."""

    number: int
    position: JudgedPosition
    action: str
    value: int


POSITION_COLUMNS: tuple[Column[JudgedAction], ...] = (
    Column("position", "number of the position, from 0", lambda row: row.number, int),
    Column("group", "stage and difficulty, such as `begin-hard`", lambda row: row.position.group, str),
    Column(
        "own",
        "the stones of the player to move, as the bits of a 64-bit integer",
        lambda row: int(row.position.state.own),
        int,
    ),
    Column(
        "opp",
        "the stones of the other player, as the bits of a 64-bit integer",
        lambda row: int(row.position.state.opp),
        int,
    ),
    Column(
        "to_move",
        "0 if the player who moved first is to move, else 1",
        lambda row: int(row.position.state.current_player),
        int,
    ),
    Column("action", "the action, as it is typed", lambda row: row.action, str),
    Column("value", "its exact value to the player to move, above 0 if it wins", lambda row: row.value, int),
)
"""judged_positions.csv, a row per legal action."""


class MoveQuality(NamedTuple):
    """How good a player's actions are in some positions; a random policy counts by its probabilities."""

    positions: int
    mistakes: float
    """The share of positions in which its action gives a win or a draw away (the definition of AlphaZero.jl)."""
    perfect: float
    """The share of positions in which its action has the best value."""
    points_lost: float
    """By how much the value of its action is below the best one, on average."""


class JudgedGrade(NamedTuple):
    """The quality of a player's actions in judged positions."""

    overall: MoveQuality
    groups: Mapping[str, MoveQuality]
    """By group, without groups that have no positions."""


class JudgedPositions(NamedTuple):
    """N positions with their groups and the exact values of their actions."""

    state: State
    """N positions."""
    values: NDArray[np.float64]
    """float64[N, A]: the value of each action to the player to move; nan where illegal."""
    groups: tuple[str, ...]
    """The group of each position."""

    def grade(self, player: Player) -> JudgedGrade:
        """The grade of `player`, without exploration. Raises NotNowError if it has no policy."""
        policy = policy_of(player, self.state).numpy()
        best = np.nanmax(self.values, axis=1, keepdims=True)
        # Illegal actions have a probability of 0.
        mistakes = policy * (np.sign(np.nan_to_num(self.values)) < np.sign(best))
        perfect = policy * (self.values == best)
        lost = policy * np.nan_to_num(best - self.values)
        rates = np.stack([table.sum(axis=1) for table in (mistakes, perfect, lost)], axis=1)
        groups = np.array(self.groups)
        chosen = {group: rates[groups == group] for group in GROUPS if group in self.groups}
        return JudgedGrade(_quality(rates), {group: _quality(rows) for group, rows in chosen.items()})


def _quality(rates: NDArray[np.float64]) -> MoveQuality:
    """`rates`: float64[N, 3], the mistakes, perfect actions and points lost of each position."""
    mistakes, perfect, lost = rates.mean(axis=0).tolist()
    return MoveQuality(len(rates), mistakes, perfect, lost)


def judged_positions(
    solver: ExactSolver, count: int, seed: int, path: Path, progress: ProgressBar = NoProgress
) -> JudgedPositions | None:
    """Up to `count` positions of each group of the solver's game; None if there are none.

    They are read from the file at `path` if manifest.json beside it records that it holds them and has not changed.
    Otherwise they are drawn and solved, and the file is replaced.

    Raises StageError if the file cannot be written.
    """
    game = solver.game
    manifest = Manifest(path.parent)
    record = {"game": game.name, "judged": count, "seed": seed, "player": average_player(game)}
    positions = _read_positions(game, path) if manifest.is_done(SECTION, record, force=True) else None
    if positions is None:
        manifest.forget(SECTION)
        positions = sample_positions(solver, count, stream_key(seed, 0, Activity.JUDGED_POSITIONS), progress)
        if positions:
            write_csv(table_of(POSITION_COLUMNS, _rows(game, positions)), path)
            manifest.record(SECTION, record, {"positions": len(positions)}, [path.name])
    return _together(game, positions) if positions else None


def _together(game: Game, positions: Sequence[JudgedPosition]) -> JudgedPositions:
    state = State(*(torch.cat(fields) for fields in zip(*(position.state for position in positions), strict=True)))
    values = np.full((len(positions), game.num_distinct_actions), np.nan)
    for row, position in enumerate(positions):
        values[row, list(position.values)] = list(position.values.values())
    return JudgedPositions(state, values, tuple(position.group for position in positions))


# ---------------------------------------------------------------------- the file


def _rows(game: Game, positions: Sequence[JudgedPosition]) -> Iterator[JudgedAction]:
    for number, position in enumerate(positions):
        for action, value in position.values.items():
            yield JudgedAction(number, position, game.action_to_string(action), value)


def _read_positions(game: Game, path: Path) -> list[JudgedPosition]:
    """The positions in the file, which is as it was written. Raises InvalidFileError."""
    rows = read_rows(path, POSITION_COLUMNS, POSITION_TABLE)
    return [_position(game, list(actions)) for _, actions in groupby(rows, lambda row: row["position"])]


def _position(game: Game, rows: Sequence[dict[str, Any]]) -> JudgedPosition:
    """The position that these rows describe, one for each legal action."""
    state = game.state_at(torch.tensor([rows[0]["own"]]), torch.tensor([rows[0]["opp"]]))
    state = state._replace(current_player=torch.tensor([rows[0]["to_move"]], dtype=torch.int8))
    legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
    return JudgedPosition(rows[0]["group"], state, dict(zip(legal, (row["value"] for row in rows), strict=True)))
