"""Learning from an expert: a search teaches tables which actions are good in the positions that they reach.

The memory of a level has the lessons, which the next level continues.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numba
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from selfplay.checks import PLAYER_NAME
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.learners.learner import ALONE, Learner, Resources, TrainedLevel
from selfplay.players.agent import Agent
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.training.expert_iteration import MOST_TRAININGS_BY_SEARCH, learn_from_expert
from selfplay.training.fitting import LOSS_DECIMALS, EpochLoss
from selfplay.training.lessons import Lessons
from selfplay.training.parameters import ExpertIteration
from selfplay.training.rows_in_memory import TrainingRows
from selfplay.training.saved_lessons import problem_of_lessons


@dataclass(frozen=True)
class Expert(Learner, ExpertIteration):
    """Learns from a search of fixed depth, on the lines that a level plays against itself."""

    plays_first = False
    keeps_network = True
    one_process_only = True

    expert: str = field(default="search:negascout?depth=6", metadata=PLAYER_NAME)
    """The one who teaches: a search of fixed depth. Its evaluation is the last level that another learner made, unless
    its name sets another."""

    def recorded(self) -> dict[str, Any]:
        return asdict(ExpertIteration(**{name: getattr(self, name) for name in ExpertIteration.__dataclass_fields__}))

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        self.expert_player(resources)

    def expert_player(self, resources: Resources) -> SearchPlayer:
        """The one who teaches. Raises SettingError unless it is a search of fixed depth with compiled values."""
        (name,) = self.players(resources.first_level)
        player = resources.make_player(name, None)
        if not isinstance(player, SearchPlayer) or player.depth < 2 or player.endgame or player.time_limit:
            raise SettingError(
                f"expert={shortened(self.expert)}: must be a search of fixed depth, 2 or more plies deep, by tables, "
                "without endgame and time_limit, such as search:negascout?depth=6"
            )
        return player

    def players(self, first_level: int) -> list[str]:
        if "evaluation=" in self.expert or not self.expert.startswith("search:"):
            return [self.expert]
        return [f"{self.expert}{'&' if '?' in self.expert else '?'}evaluation=level:{first_level - 1}"]

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        return EpsilonGreedyPlayer(agent.game, resources.choosing(agent), self.epsilons)

    def steps(self, game: Game, matches: int) -> int:
        return game.max_game_length + (0 if self.weights_by_ply else MOST_TRAININGS_BY_SEARCH)

    def train(
        self,
        rows: TrainingRows | Iterable[Rows],
        start: Agent,
        *,
        seed: int = 0,
        level: int = 1,
        matches: int = 0,
        memory: bytes | None = None,
        resources: Resources = ALONE,
    ) -> TrainedLevel:
        """As `Learner.train`. Raises ValueError, with the reason, for a memory that does not fit."""
        experts = [self.expert_player(resources) for _ in range(numba.config.NUMBA_NUM_THREADS)]  # type: ignore[attr-defined]
        taught = learn_from_expert(
            start,
            [expert.searcher for expert in experts],
            experts[0].depth,
            matches,
            self,
            lessons=None if memory is None else read_memory(memory, start.game),
            seed=seed,
            level=level,
            on_step=resources.on_step,
        )
        left, met = (round(share, LOSS_DECIMALS) for share in (taught.mistakes, taught.new_mistakes))
        loss = EpochLoss(1, left, met, is_champion=True)
        kept = save(dict(taught.lessons._asdict()))
        return TrainedLevel(taught.network.half(), [loss], taught.positions, kept, taught.architecture)


def read_memory(memory: bytes, game: Game) -> Lessons:
    """The lessons in the memory of a level. Raises ValueError, with the reason, if it is broken or another game's."""
    try:
        arrays = load(memory)
    except SafetensorError as error:
        raise ValueError(f"cannot be read: {shortened(error)}") from error
    if (problem := problem_of_lessons(arrays, game, np.float64)) is not None:
        raise ValueError(f"has no lessons of {game.name} ({problem})")
    return Lessons(**arrays)
