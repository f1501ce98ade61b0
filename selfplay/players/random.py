"""The random player: level 0 of every run."""

from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player, pick_actions, uniform_policy


class RandomPlayer(Player):
    """Plays every legal action with the same probability."""

    name = "random"

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, state: State, draws: Draws) -> Tensor:
        if state.own.is_cpu:
            return self.game.kernels.random_actions(state, draws)
        return self.act_with_tensors(state, draws)

    def act_with_tensors(self, state: State, draws: Draws) -> Tensor:
        """`act` as torch operations, for any device: the same actions."""
        return pick_actions(self.game.legal_action_mask(state), draws.bits(Purpose.RANDOM_ACTION))

    def policy(self, state: State) -> Tensor:
        return uniform_policy(self.game.legal_action_mask(state))

    def move_to(self, device: str) -> None:
        """Do nothing: the actions are computed where the matches are."""

    def bytes_on_device(self) -> int:
        return 0
