"""Positions with the exact value of every action, as tests for players."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.errors import NotNowError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.grading.schedule import Who
from selfplay.grading.tables import Row
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player, policy_of
from selfplay.players.search import SearchPlayer
from selfplay.search.evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher


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


Keep = Callable[[str, Mapping[str, Any], Callable[[], list[SolvedPosition]]], list[SolvedPosition]]
"""(name, record, make) to solved positions: those that are kept under this name with this record, otherwise those of
`make`. `record`: everything that they depend on, as JSON."""


def made_anew(name: str, record: Mapping[str, Any], make: Callable[[], list[SolvedPosition]]) -> list[SolvedPosition]:
    """Those of `make`; nothing is kept."""
    return make()


# ---------------------------------------------------------------------- where positions come from

RESULT_ONLY = FeatureEvaluation("none", game=None, win=1.0, margin=0.0, weights={})
"""Values every unfinished position as 0."""
DEPTH, EPSILON = 2, 0.25


def average_player(game: Game, evaluation: FeatureEvaluation) -> Player:
    """A fast player that avoids immediate blunders and explores; its matches resemble those of people."""
    player = SearchPlayer(Searcher(game, evaluation, table_bits=16), DEPTH)
    return EpsilonGreedyPlayer(game, player, [EPSILON])


def average_player_name(evaluation: FeatureEvaluation) -> str:
    """What records call the `average_player` with this evaluation."""
    return f"search:negascout?depth={DEPTH}&evaluation={evaluation.name}&epsilon={EPSILON}"
