"""Networks as evaluators of tree searches."""

from pathlib import Path

from torch import nn

from selfplay.architectures import check_output
from selfplay.architectures.output import Output
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.device_memory import network_bytes
from selfplay.players.learned_evaluation import compiled_evaluation
from selfplay.players.levels import agent_of
from selfplay.players.symmetric_network import SymmetricNetwork
from selfplay.players.value_net import (
    EVALUATION_BLOCK_ON_GPU,
    ValueNetPlayer,
    best_values,
    evaluate_output,
)
from selfplay.runs.checkpoints import Checkpoint, load_checkpoint
from selfplay.search.mcts.afterstates import PRIOR_TEMPERATURE, AfterstateEvaluator
from selfplay.search.mcts.evaluation_cache import EvaluationCache
from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator, PositionValues
from selfplay.settings.checks import require_above_0
from selfplay.settings.choices import OUTCOMES

BLOCK = 32
"""Rows in one forward pass on the CPU: a search of a single match evaluates one position at a time, and must get the
same result as in a batch. Convolutions are fastest with 32 to 64 rows."""


class PolicyNetworkEvaluator:
    """A network with a policy head: the value of the position, and the logits of the actions.

    Evaluations are remembered, so the weights must not change.

    Args:
        outcome: what the network predicts, a name in `selfplay.settings.choices.OUTCOMES`.
    """

    def __init__(self, game: Game, network: nn.Module, outcome: str = "return", name: str = "network") -> None:
        self.game, self.network, self.name = game, network.eval(), name
        self.ends, self._cache = OUTCOMES[outcome](game), EvaluationCache(game.num_distinct_actions)

    def evaluate(self, state: State) -> PositionValues:
        return self._cache.evaluate(state, self._evaluate)

    def _evaluate(self, state: State) -> PositionValues:
        output: Output = evaluate_output(self.network, self.game.observe(state), BLOCK)
        assert output.policy_logits is not None, "checked by `network_evaluator`"
        # The output is the outcome for the player who has just moved.
        return PositionValues(-output.value, output.policy_logits)

    def move_to(self, device: str) -> None:
        self._cache.clear()
        self.network.to(device)

    def bytes_on_device(self) -> int:
        return network_bytes(self.network, self.game.observation_shape, EVALUATION_BLOCK_ON_GPU)


class ValueNetworkEvaluator:
    """A network without a policy head: the values of the afterstates give the priors, and the best one the value.

    As `AfterstateEvaluator`, which does the same for evaluations that can be compiled. Evaluations are remembered, so
    the weights must not change.

    Args:
        outcome: what the network predicts, a name in `selfplay.settings.choices.OUTCOMES`.
        temperature: of the priors, above 0.

    Raises SettingError if the temperature is out of range.
    """

    def __init__(
        self,
        game: Game,
        network: nn.Module,
        outcome: str = "return",
        temperature: float = PRIOR_TEMPERATURE,
        name: str = "network",
    ) -> None:
        require_above_0("prior_temperature", temperature)
        self.player = ValueNetPlayer(game, network, name=name, outcome=outcome)
        self.ends, self.temperature, self.name = OUTCOMES[outcome](game), temperature, name
        self._cache = EvaluationCache(game.num_distinct_actions)

    def evaluate(self, state: State) -> PositionValues:
        return self._cache.evaluate(state, self._evaluate)

    def _evaluate(self, state: State) -> PositionValues:
        values = self.player.action_values(state)
        # Values of linear outputs may exceed those of a won match.
        return PositionValues(best_values(values).clamp(-1, 1), values.nan_to_num(nan=0.0) / self.temperature)

    def move_to(self, device: str) -> None:
        self._cache.clear()
        self.player.move_to(device)

    def bytes_on_device(self) -> int:
        return self.player.bytes_on_device()


def network_evaluator(
    game: Game, network: nn.Module, outcome: str = "return", temperature: float | None = None, name: str = "network"
) -> BatchEvaluator:
    """The evaluator that suits the network: by its policy head, or else by the values of afterstates.

    Args:
        temperature: of the priors of a network without a policy head; None: PRIOR_TEMPERATURE.

    Raises SettingError if the temperature is out of range, or is given for a network with a policy head.
    """
    output = check_output(network, game.observation_shape, game.num_distinct_actions, f"the network of {name}")
    if output.policy_logits is None:
        return ValueNetworkEvaluator(
            game, network, outcome, PRIOR_TEMPERATURE if temperature is None else temperature, name
        )
    if temperature is not None:
        raise SettingError(f"prior_temperature={temperature}: {name} has a policy head, whose priors have none")
    return PolicyNetworkEvaluator(game, network, outcome, name)


def checkpoint_evaluator(
    checkpoint: Checkpoint,
    game: Game,
    temperature: float | None = None,
    name: str = "network",
    symmetries: bool = False,
) -> BatchEvaluator | CompiledEvaluator:
    """The evaluator of a level: compiled if its values can be, otherwise as `network_evaluator`.

    Args:
        symmetries: whether to evaluate all images of a position under the symmetries of the game, and to take the mean
            (`SymmetricNetwork`); not compiled.
    """
    outcome = checkpoint.metadata["outcome"]
    if symmetries:
        return network_evaluator(game, SymmetricNetwork(checkpoint.network, game), outcome, temperature, name)
    evaluation = compiled_evaluation(checkpoint, game, name)
    if evaluation is None:
        return network_evaluator(game, checkpoint.network, outcome, temperature, name)
    return AfterstateEvaluator(
        evaluation, OUTCOMES[outcome](game), PRIOR_TEMPERATURE if temperature is None else temperature
    )


def level_evaluator(
    run_dir: str | Path, level: int, game: Game, temperature: float | None = None, symmetries: bool = False
) -> BatchEvaluator | CompiledEvaluator:
    """The evaluator of a level of a run. The arguments are those of `checkpoint_evaluator`.

    Raises:
        SettingError: as `network_evaluator`.
        StageError: the run does not have this level.
        InvalidFileError: its file is broken or belongs to another game.
    """
    checkpoint = load_checkpoint(agent_of(run_dir, level), game)
    return checkpoint_evaluator(checkpoint, game, temperature, f"level:{level}", symmetries)


def level_policy(run_dir: str | Path, level: int, game: Game, symmetries: bool = False) -> PolicyNetworkEvaluator:
    """The evaluator of a level with a policy head; `symmetries` as in `checkpoint_evaluator`.

    Raises as `level_evaluator`, and SettingError if the level has no policy head.
    """
    evaluator = level_evaluator(run_dir, level, game, symmetries=symmetries)
    if not isinstance(evaluator, PolicyNetworkEvaluator):
        raise SettingError(f"level {level} has no policy head; write level:{level}")
    return evaluator
