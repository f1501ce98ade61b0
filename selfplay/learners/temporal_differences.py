"""Learning by temporal differences: tables of patterns learn from each match that they play against themselves.

The agent has the mean of the weights that the level had while it learned, as float16 numbers; its memory has the last
weights, with which the next level begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from selfplay.agents.agent import Agent
from selfplay.architectures.capabilities import TableWeights
from selfplay.checks import PLAYER_NAME, count, part_of, within
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.games.patterns import TrainableTables
from selfplay.learners.learner import ALONE, Inputs, Learner, LevelInputs, Resources, TrainedLevel
from selfplay.learners.values import require_matches, require_searches
from selfplay.players.exploring import exploring
from selfplay.players.player import Player
from selfplay.training.epochs import LOSS_DECIMALS, Epoch
from selfplay.training.parameters import StepSizes
from selfplay.training.saved_lessons import are_reasonable
from selfplay.training.td_learning import MEAN_SQUARED_ERROR, TrainingMatches, td_learn, unchanged

WEIGHTS, CHANGES = "weights", "changes"


@dataclass(frozen=True)
class TemporalDifferences(Learner, StepSizes):
    """Learns while it plays, by TD(lambda) with a step size for each weight (temporal coherence)."""

    gamma: float = field(default=1.0, metadata=within(0, 1))
    """Discount of the return for each further move of the same player."""
    epsilons: list[float] = field(default_factory=[0.1].copy, metadata=within(0, 1))
    """Exploration rates by ply; the last is for all later plies."""
    opening_plies: int = field(default=0, metadata=count(0))
    """Matches begin with 0 to this number of random plies, from which nothing is learned."""
    self_play: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player of the matches, such as search:negascout?depth=5&endgame=14; its values are learned. null: the tables,
    one ply ahead."""
    exact_from: int | None = field(default=None, metadata=count(1))
    """Positions with at most this number of empty squares learn exact values. null: outcomes only."""

    def recorded(self) -> dict[str, Any]:
        return part_of(StepSizes, self)

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        name = agent.checkpoint.metadata["architecture"]["name"]
        if not isinstance(agent.network, TableWeights):
            raise SettingError(
                f"learner=td trains tables of patterns, not architecture={name}; set architecture=ntuple"
            )
        require_matches(agent.game, self.outcome_of(), self.opening_plies, self.exact_from)
        player = self.player(agent, resources)
        if self.self_play is not None:
            require_searches(player, self.self_play)

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        player = resources.choosing(agent) if self.self_play is None else resources.make_player(self.self_play, agent)
        return exploring(agent.game, player, self.epsilons, self.opening_plies, keeps_values=True)

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        return Inputs()

    def steps(self, game: Game, matches: int) -> tuple[int, str]:
        return matches, "matches"

    def train(self, inputs: LevelInputs, rows: Iterable[Rows] = ()) -> TrainedLevel:
        """As `Learner.train`. Raises ValueError, with the reason, for a memory that does not fit."""
        start, memory = inputs.start, inputs.memory

        def searching() -> Player:
            return self.player(start.with_present_weights(), inputs.resources)

        network = start.network
        assert isinstance(network, TableWeights), "see check"
        tables = network.trainable_tables()
        changes = unchanged(tables) if memory is None else read_weights_and_changes(memory, tables)
        matches = TrainingMatches(
            number=inputs.matches,
            gamma=self.gamma,
            epsilons=self.epsilons,
            outcome=self.outcome_of(),
            exact_from=self.exact_from,
            opening_plies=self.opening_plies,
            make_player=None if self.self_play is None else searching,
            seed=inputs.seed,
            level=inputs.level,
        )
        on_round = inputs.resources.on_step
        error, count, mean = td_learn(start.game, tables, matches, self, changes=changes, on_round=on_round)
        epoch = Epoch(1, {MEAN_SQUARED_ERROR: round(error, LOSS_DECIMALS)})
        kept = save({WEIGHTS: tables.weights, CHANGES: changes})
        tables.weights[:] = mean
        return TrainedLevel(network.half(), [epoch], count, kept)


def read_weights_and_changes(memory: bytes, tables: TrainableTables) -> NDArray[np.float32]:
    """Read the memory of a level: the weights into `tables`, and `changes` as for `td_learn`.

    Raises ValueError, with the reason, if it is broken or does not fit the tables.
    """
    try:
        arrays = load(memory)
    except SafetensorError as error:
        raise ValueError(f"cannot be read: {shortened(error)}") from error
    single = np.dtype(np.float32)
    expected = {WEIGHTS: (tables.weights.shape, single), CHANGES: ((*tables.weights.shape, 2), single)}
    if {name: (array.shape, array.dtype) for name, array in arrays.items()} != expected:
        raise ValueError("does not fit the tables of the agent beside it")
    weights, changes = arrays[WEIGHTS], arrays[CHANGES]
    sums, sizes = changes[..., 0], changes[..., 1]
    if not (are_reasonable(weights) and are_reasonable(changes) and ((abs(sums) <= sizes) & (sizes > 0)).all()):
        raise ValueError("has numbers that training does not give")
    tables.weights[:] = weights
    return changes
