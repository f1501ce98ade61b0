"""The player that takes the action that a network's policy head considers most promising, without searching."""

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.network_evaluator import PolicyNetworkEvaluator
from selfplay.players.player import Player, one_hot_policy


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
