"""Positions with the exact value of every action, as tests for players, and their files.

RUN_DIR/comparison/endgames.csv, judged_positions.csv    a row per action
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.errors import NotNowError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.grading.measures import Who
from selfplay.grading.tables import POSITION_COLUMNS, POSITION_TABLE, Row, read_rows, table_of, write_csv
from selfplay.players.player import Player, policy_of
from selfplay.runs.manifest import Manifest


class MoveQuality(NamedTuple):
    """How good a player's actions are in some positions; a random policy counts by its probabilities."""

    positions: int
    mistakes: float
    """The share of positions in which its action gives a win or a draw away (the definition of AlphaZero.jl)."""
    perfect: float
    """The share of positions in which its action has the best value."""
    points_lost: float
    """How far the value of its action is below the best one, on average."""


def quality_fields(quality: MoveQuality, prefix: str = "") -> Row:
    """The fields of `selfplay.grading.tables.QUALITY_COLUMNS`, or with the prefix "judged_" of JUDGED_COLUMNS."""
    names = ("mistake_rate", "perfect_rate", "points_lost")
    return {f"{prefix}{name}": value for name, value in zip(names, quality[1:], strict=True)}


class PositionGrade(NamedTuple):
    """The quality of a player's actions in solved positions."""

    overall: MoveQuality
    groups: Mapping[str, MoveQuality]


class SolvedPosition(NamedTuple):
    """A position, and the exact value of every action."""

    state: State
    values: Mapping[int, int]
    """The value to the player to move of each legal action, in ascending order of actions."""
    group: str = ""


class SolvedPositions(NamedTuple):
    """N positions with the exact values of their actions, as a test for players."""

    state: State
    values: NDArray[np.float64]
    """float64[N, A]: the value of each action to the player to move; nan where illegal."""
    groups: tuple[str, ...]

    @classmethod
    def of(cls, game: Game, positions: Sequence[SolvedPosition]) -> "SolvedPositions":
        """These positions (at least one)."""
        state = State(*(torch.cat(fields) for fields in zip(*(position.state for position in positions), strict=True)))
        values = np.full((len(positions), game.num_distinct_actions), np.nan)
        for row, position in enumerate(positions):
            values[row, list(position.values)] = list(position.values.values())
        return cls(state, values, tuple(position.group for position in positions))

    def grade(self, player: Player) -> PositionGrade:
        """The grade of `player`, without exploration. Raises NotNowError if it has no policy."""
        policy = policy_of(player, self.state).numpy()
        best = np.nanmax(self.values, axis=1, keepdims=True)
        # Illegal actions have a probability of 0.
        mistakes = policy * (np.sign(np.nan_to_num(self.values)) < np.sign(best))
        perfect = policy * (self.values == best)
        lost = policy * np.nan_to_num(best - self.values)
        rates = np.stack([table.sum(axis=1) for table in (mistakes, perfect, lost)], axis=1)
        names = np.array(self.groups)
        by_group = {group: _quality(rates[names == group]) for group in dict.fromkeys(self.groups)}
        return PositionGrade(_quality(rates), by_group)


def _quality(rates: NDArray[np.float64]) -> MoveQuality:
    """`rates`: float64[N, 3], the mistakes, perfect actions and points lost of each position."""
    return MoveQuality(len(rates), *rates.mean(axis=0).tolist())


def grades_in(positions: SolvedPositions | None, players: Mapping[Who, Player]) -> dict[Who, PositionGrade]:
    """The grade of each player that can act outside of a match; third-party programs cannot."""
    grades: dict[Who, PositionGrade] = {}
    if positions is not None:
        for who, player in players.items():
            with suppress(NotNowError):
                grades[who] = positions.grade(player)
    return grades


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
