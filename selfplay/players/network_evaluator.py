"""Networks as evaluators of tree searches, and the player that acts by a policy head without searching.

`selfplay.players.agent.Agent.evaluator` chooses the one that suits a network."""

import torch
from torch import Tensor, nn

from selfplay.architectures import Output
from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.device_memory import network_bytes
from selfplay.players.player import Player, one_hot_policy
from selfplay.players.value_net import EVALUATION_BLOCK_ON_GPU, ValueNetPlayer, best_values, evaluate_output
from selfplay.search.mcts.evaluation_cache import EvaluationCache
from selfplay.search.mcts.evaluator import PRIOR_TEMPERATURE, PositionValues
from selfplay.settings.choices import OUTCOMES
from selfplay.settings.fields import Range

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
        assert output.policy_logits is not None, "checked by `Agent.evaluator`"
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
        Range(above=0).check("prior_temperature", temperature)
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


class SymmetricNetwork(nn.Module):
    """The means of what a network says of all images of each position.

    A network trained on all images still values them a little differently. The mean is nearer to the truth (Silver et
    al., "Mastering the game of Go with deep neural networks and tree search", 2016, use it for all eight images) and
    takes as many forward passes as the game has symmetries.
    """

    def __init__(self, network: nn.Module, game: Game) -> None:
        super().__init__()
        self.network = network
        self.observations: Tensor
        self.actions: Tensor
        for name, images in game.symmetries._asdict().items():
            self.register_buffer(name, torch.from_numpy(images), persistent=False)

    def forward(self, observations: Tensor) -> Output:
        outputs = [self.network(self._image(observations, entries)) for entries in self.observations]
        value = torch.stack([output.value for output in outputs]).mean(dim=0)
        if outputs[0].policy_logits is None:
            return Output(value)
        # Entry a of a row of `actions` is where action a goes in this image.
        logits = [output.policy_logits[:, places] for output, places in zip(outputs, self.actions, strict=True)]
        return Output(value, torch.stack(logits).mean(dim=0))

    def _image(self, observations: Tensor, entries: Tensor) -> Tensor:
        return observations.flatten(1)[:, entries].reshape(observations.shape)


class PolicyNetPlayer(Player):
    """Takes the legal action with the largest logit, the lowest of equal ones."""

    def __init__(self, game: Game, evaluator: PolicyNetworkEvaluator, name: str | None = None) -> None:
        self.game, self.evaluator, self.name = game, evaluator, name or f"policy of {evaluator.name}"

    def act(self, state: State, draws: Draws) -> Tensor:
        return self._actions(state)

    def policy(self, state: State) -> Tensor:
        """float64[B, A]: 1 for the action that it takes; the rows of finished matches are 0."""
        return one_hot_policy(self._actions(state), self.game.legal_action_mask(state))

    def move_to(self, device: str) -> None:
        self.evaluator.move_to(device)

    def bytes_on_device(self) -> int:
        return self.evaluator.bytes_on_device()

    def _actions(self, state: State) -> Tensor:
        logits = self.evaluator.evaluate(state).logits
        actions: Tensor = logits.masked_fill(~self.game.legal_action_mask(state), -float("inf")).argmax(dim=1)
        return actions
