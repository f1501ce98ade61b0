"""The random player: level 0 of every run."""

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import Player, uniform_policy


class RandomPlayer(Player):
    """Plays every legal action with the same probability."""

    name = "random"

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, state: State, draws: Draws) -> Tensor:
        return self.game.kernels.random_actions(state, draws)

    def policy(self, state: State) -> Tensor:
        return uniform_policy(self.game.legal_action_mask(state))
