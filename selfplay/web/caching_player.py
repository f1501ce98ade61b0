"""A player that caches the action values of positions, because many matches reach the same positions."""

from collections import OrderedDict
from pathlib import Path

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.levels import load_level
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer, best_actions
from selfplay.players.wrapper import PlayerWrapper

MAX_POSITIONS = 20_000


class CachingPlayer(PlayerWrapper):
    """Plays the best action by the values that `player` gives, and caches these values.

    `player` must always take its best action, so its temperature must be 0. Several threads may use it at once.
    """

    player: ValueNetPlayer | SearchPlayer

    def __init__(self, player: ValueNetPlayer | SearchPlayer) -> None:
        super().__init__(player)
        self._values: OrderedDict[tuple[int, int, int], Tensor] = OrderedDict()

    def action_values(self, state: State) -> Tensor:
        if state.batch_size != 1:
            return self.player.action_values(state)
        key = (int(state.own), int(state.opp), int(state.current_player))
        values = self._values.get(key)
        if values is None:
            # Two threads may both get here; they then write the same values.
            values = self._values[key] = self.player.action_values(state)
            if len(self._values) > MAX_POSITIONS:
                self._values.popitem(last=False)
        return values

    def act(self, state: State, draws: Draws) -> Tensor:
        return best_actions(self.action_values(state))


def caching_level(run_dir: Path, level: int, game: Game) -> Player:
    """The agent of a level, with a cache. Raises as `selfplay.players.levels.load_level`."""
    return CachingPlayer(load_level(run_dir, level, game))
