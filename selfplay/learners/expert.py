"""Learning from an expert: a search teaches tables which actions are good in the positions that they reach.

The memory of a level has the lessons, which the next level continues.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from selfplay.agents.agent import Agent
from selfplay.checks import PLAYER_NAME, part_of
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.learners.learner import ALONE, Inputs, Learner, LevelInputs, Resources, TrainedLevel
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.training.epochs import LOSS_DECIMALS, Epoch
from selfplay.training.expert_iteration import MOST_TRAININGS_BY_SEARCH, learn_from_expert
from selfplay.training.lessons import Lessons
from selfplay.training.parameters import ExpertIteration
from selfplay.training.saved_lessons import lessons_in


@dataclass(frozen=True)
class Expert(Learner, ExpertIteration):
    """Learns from a search of fixed depth, on the lines that a level plays against itself."""

    expert: str = field(default="search:negascout?depth=6", metadata=PLAYER_NAME)
    """The search of fixed depth that teaches, by default with the last level of another learner as evaluation."""

    def recorded(self) -> dict[str, Any]:
        return part_of(ExpertIteration, self)

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        self.expert_player(resources)

    def expert_player(self, resources: Resources) -> SearchPlayer:
        """The one who teaches. Raises SettingError unless it is a search of fixed depth with compiled values."""
        (name,) = self.inputs(resources.first_level, resources.first_level).players
        player = resources.make_player(name, None)
        if not isinstance(player, SearchPlayer) or player.depth < 2 or player.endgame or player.time_limit:
            raise SettingError(
                f"expert={shortened(self.expert)}: must be a search of fixed depth, 2 or more plies deep, by tables, "
                "without endgame and time_limit, such as search:negascout?depth=6"
            )
        return player

    def inputs(self, level: int, first_level: int = 1) -> Inputs:
        teacher = self.expert
        if "evaluation=" not in teacher and teacher.startswith("search:"):
            teacher += f"{'&' if '?' in teacher else '?'}evaluation=level:{first_level - 1}"
        return Inputs(players=[teacher], start="agent")

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        return EpsilonGreedyPlayer(agent.game, resources.choosing(agent), self.epsilons)

    def steps(self, game: Game, matches: int) -> tuple[int, str]:
        return game.max_game_length + (0 if self.weights_by_ply else MOST_TRAININGS_BY_SEARCH), "steps"

    def train(self, inputs: LevelInputs, rows: Iterable[Rows] = ()) -> TrainedLevel:
        """As `Learner.train`. Raises ValueError, with the reason, for a memory that does not fit."""
        start, resources, memory = inputs.start, inputs.resources, inputs.memory
        experts = [self.expert_player(resources) for _ in range(numba.config.NUMBA_NUM_THREADS)]  # type: ignore[attr-defined]
        taught = learn_from_expert(
            start,
            [expert.searcher for expert in experts],
            experts[0].depth,
            inputs.matches,
            self,
            lessons=None if memory is None else read_lessons(memory, start.game),
            seed=inputs.seed,
            level=inputs.level,
            on_step=resources.on_step,
        )
        left, met = (round(share, LOSS_DECIMALS) for share in (taught.mistakes, taught.new_mistakes))
        epoch = Epoch(1, {"share_of_mistakes_left": left, "share_of_mistakes_met": met})
        kept = save(dict(taught.lessons._asdict()))
        return TrainedLevel(taught.network.half(), [epoch], taught.positions, kept, taught.architecture)


def read_lessons(memory: bytes, game: Game) -> Lessons:
    """The lessons in the memory of a level. Raises ValueError, with the reason, if it is broken or another game's."""
    try:
        arrays = load(memory)
    except SafetensorError as error:
        raise ValueError(f"cannot be read: {shortened(error)}") from error
    return lessons_in(arrays, game, np.float64)
