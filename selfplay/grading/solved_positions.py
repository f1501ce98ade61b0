"""Positions with the exact value of every action, as tests for players, and their files.

RUN_DIR/comparison/endgames.csv, judged_positions.csv    a row per action
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.grading.tables import POSITION_COLUMNS, POSITION_TABLE, Row, read_rows, table_of, write_csv
from selfplay.runs.manifest import Manifest


class SolvedPosition(NamedTuple):
    """A position, and the exact value of every action."""

    state: State
    """One match."""
    values: Mapping[int, int]
    """The value to the player to move of each legal action, in ascending order of actions."""
    group: str = ""
    """The group of the position, where positions are divided into groups."""


def kept_positions(
    game: Game, path: Path, section: str, record: Mapping[str, Any], make: Callable[[], list[SolvedPosition]]
) -> list[SolvedPosition]:
    """The positions in the file at `path`, if manifest.json beside it records that it holds them and has not changed.

    Otherwise those of `make`, which replace the file unless there are none. Raises StageError if it cannot be written.

    Args:
        section: the section of the manifest that describes the file.
        record: everything that the positions depend on.
    """
    manifest = Manifest(path.parent)
    if manifest.is_done(section, record, force=True):
        rows = read_rows(path, POSITION_COLUMNS, POSITION_TABLE)
        return [_position(game, list(actions)) for _, actions in groupby(rows, itemgetter("position"))]
    manifest.forget(section)
    positions = make()
    if positions:
        fields = [row for number, position in enumerate(positions) for row in _rows(game, number, position)]
        write_csv(table_of(POSITION_COLUMNS, fields), path)
        manifest.record(section, record, {"positions": len(positions)}, [path.name])
    return positions


def together(game: Game, positions: Sequence[SolvedPosition]) -> tuple[State, NDArray[np.float64]]:
    """The N positions, and float64[N, A]: the value of each action to the player to move, nan where illegal."""
    state = State(*(torch.cat(fields) for fields in zip(*(position.state for position in positions), strict=True)))
    values = np.full((len(positions), game.num_distinct_actions), np.nan)
    for row, position in enumerate(positions):
        values[row, list(position.values)] = list(position.values.values())
    return state, values


def _rows(game: Game, number: int, position: SolvedPosition) -> list[Row]:
    own, opp, to_move = (int(field) for field in position.state[:3])
    row = {"position": number, "own": own, "opp": opp, "to_move": to_move}
    group = {"group": position.group} if position.group else {}
    actions = position.values.items()
    return [{**row, **group, "action": game.action_to_string(action), "value": value} for action, value in actions]


def _position(game: Game, rows: Sequence[dict[str, Any]]) -> SolvedPosition:
    """The position that these rows describe, one for each legal action."""
    state = game.state_at(torch.tensor([rows[0]["own"]]), torch.tensor([rows[0]["opp"]]))
    state = state._replace(current_player=torch.tensor([rows[0]["to_move"]], dtype=torch.int8))
    legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
    values = dict(zip(legal, (row["value"] for row in rows), strict=True))
    return SolvedPosition(state, values, rows[0].get("group") or "")
