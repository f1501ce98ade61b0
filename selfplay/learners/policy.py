"""Learning a policy and values by tree search (AlphaZero: Silver et al., Science 362, 2018).

Levels play by tree search with their network. The network learns the policies that the searches find, and the outcomes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from selfplay.agents.agent import Agent
from selfplay.architectures import probe
from selfplay.checks import IN_MATCHES, IN_TRAINING, PLAYER_NAME, changed, count, fields_of, within
from selfplay.dataset.rows import Rows
from selfplay.dataset.searched_targets import search_targets
from selfplay.errors import SettingError, shortened
from selfplay.games import Game
from selfplay.learners.learner import ALONE, Learner, LevelInputs, Resources
from selfplay.learners.values import FitsPlayedRows
from selfplay.players.exploring import with_opening
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.mcts import MctsPlayer, TreeSearchParameters
from selfplay.players.player import Player, RandomPlayer
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator
from selfplay.search.mcts.mixed_evaluator import MixedEvaluator
from selfplay.search.mcts.rule import constants_of_rule
from selfplay.training.parameters import LossWeights

EXPLORING = {"gumbel": {"gumbel_scale": 1.0}, "puct": {"noise": 0.25}}
"""The noise at the root, by rule, in the matches that are learned from."""


@dataclass(frozen=True)
class Policy(FitsPlayedRows, TreeSearchParameters):
    """Learns which actions a tree search finds good, and the outcomes of its matches."""

    gamma: float = field(default=1.0, metadata=IN_MATCHES | within(0, 1))
    """Discount of the return for each further move of the same player."""
    rule: str = changed(TreeSearchParameters, "rule", "gumbel")
    constants: dict[str, float] = field(default_factory=dict, metadata=IN_MATCHES)
    """Constants that differ from those of the rule and from gumbel_scale=1 (gumbel) or noise=0.25 (puct), which make
    matches differ."""
    simulations: int = changed(TreeSearchParameters, "simulations", 32)
    parallel: int | None = changed(TreeSearchParameters, "parallel", 1)
    temperature: float = changed(TreeSearchParameters, "temperature", 1.0)
    temperature_plies: int | None = changed(TreeSearchParameters, "temperature_plies", 8)
    value_weight: float = field(default=1.0, metadata=IN_TRAINING | within(0, 1000))
    """Weight of the squared error of the value in the loss."""
    self_play: str | None = field(default=None, metadata=IN_MATCHES | PLAYER_NAME)
    """The player of the matches, also of level 0, by tree search, such as mcts:rollouts?simulations=500&temperature=1.
    null: the level in a search with these parameters, level 0 at random."""
    rollout_share: float = field(default=0.0, metadata=IN_MATCHES | within(0, 1))
    """Share of the mean result of random matches from a position in its value in searches; the rest is the value of the
    network."""
    rollouts: int = field(default=16, metadata=IN_MATCHES | count(1))
    """Number of these random matches for each position."""
    policy_weight: float = field(default=1.0, metadata=IN_TRAINING | within(0, 1000))
    """Weight of the cross-entropy of the policy in the loss."""

    def __post_init__(self) -> None:
        super().__post_init__()
        known = constants_of_rule(self.rule)
        if self.constants.keys() - set(known):
            given = ", ".join(self.constants)
            raise SettingError(f"constants={given}: rule={self.rule} has {', '.join(known) or 'no constants'}")

    @property
    def loss_weights(self) -> LossWeights:
        return LossWeights(self.value_weight, self.policy_weight)

    def learns_policy(self) -> bool:
        return True

    def mixed_rollouts(self) -> tuple[float, int]:
        return (self.rollout_share, self.rollouts) if self.rollout_share else super().mixed_rollouts()

    def unmixed(self) -> "Policy":
        return replace(self, rollout_share=0.0)

    def check_processes(self, count: int) -> None:
        Learner.check_processes(self, count)

    def check(self, agent: Agent, resources: Resources) -> None:
        super().check(agent, resources)
        require_policy_head(agent, "learner=policy")
        self.player(agent, resources)

    def player(self, agent: Agent, resources: Resources = ALONE) -> Player:
        if self.self_play is not None:
            return self._named(agent.game, agent, resources)
        usual = EXPLORING.get(self.rule, {})
        with fields_of("constants", *self.constants):
            player = self.search_player(agent.game, self.evaluator(agent), agent.name, usual)
        return self.exploring(agent.game, player)

    def evaluator(self, agent: Agent) -> BatchEvaluator | CompiledEvaluator:
        """The evaluator of the searches of an agent.

        Raises SettingError if random matches cannot be mixed with its values.
        """
        evaluator = agent.evaluator()
        return MixedEvaluator(evaluator, self.rollout_share, self.rollouts) if self.rollout_share else evaluator

    def _named(self, game: Game, agent: Agent | None, resources: Resources) -> Player:
        """The player with the name `self_play`. Raises SettingError if it does not search trees."""
        player = resources.make_player(str(self.self_play), agent)
        if not isinstance(player, MctsPlayer):
            raise SettingError(f"self_play={shortened(str(self.self_play))}: finds no policies; set mcts:...")
        return self.exploring(game, player)

    def exploring(self, game: Game, player: Player) -> Player:
        return with_opening(game, KeepsSearches(player), self.opening_plies)

    def rule_of_targets(self) -> tuple[Any, str]:
        return search_targets, "both"

    def generate(self, inputs: LevelInputs, matches: range) -> Iterable[Rows]:
        game, agent, resources = inputs.game, inputs.agent, inputs.resources
        if inputs.opponent is not None:
            raise SettingError(f"opponent={inputs.opponent}: learner=policy only plays against itself")
        if agent is None and self.self_play is None:
            # Level 0 plays at random to the end.
            itself: Player = RandomPlayer(game)
            return self.rows_of(inputs, self.played(inputs, (itself, itself), matches), 0)
        itself = self._named(game, None, resources) if agent is None else self.player(agent, resources)
        return self.rows_of(inputs, self.played(inputs, (itself, itself), matches), self.opening_plies)


def with_policies(rows: Rows, game: Game) -> Rows:
    """The rows. Raises ValueError, with the reason, if they have no policies of this game."""
    if rows.policy is None:
        raise ValueError("has no policies, which learner=policy needs")
    if (found := rows.policy.shape[1]) != game.num_distinct_actions:
        raise ValueError(f"its policies have {found} actions, not {game.num_distinct_actions}")
    return rows


def require_policy_head(agent: Agent, what: str) -> None:
    """Raise SettingError, naming what trains it, if the network of an agent has no policy head."""
    if probe(agent.network, agent.game.observation_shape).policy_logits is None:
        name = agent.checkpoint.metadata["architecture"]["name"]
        raise SettingError(
            f"architecture={name} has no policy head, which {what} trains; set "
            "architecture=alphazero_mlp, alphazero_residual or alphazero_convolutional"
        )
