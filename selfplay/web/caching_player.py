"""A level that does not ask its network twice about a position: many matches meet the same ones."""

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

MAX_POSITIONS = 20_000


class CachingPlayer(Player):
    """Plays as `player`, which must not draw its actions (temperature 0), and remembers the values that it gave."""

    def __init__(self, player: ValueNetPlayer | SearchPlayer) -> None:
        self.player, self.name = player, player.name
        self._values: OrderedDict[tuple[int, int, int], Tensor] = OrderedDict()

    def action_values(self, state: State) -> Tensor:
        if state.batch_size != 1:
            return self.player.action_values(state)
        key = (int(state.own), int(state.opp), int(state.current_player))
        values = self._values.get(key)
        if values is None:
            # Two threads may both get here: they then write the same.
            values = self._values[key] = self.player.action_values(state)
            if len(self._values) > MAX_POSITIONS:
                self._values.popitem(last=False)
        return values

    def act(self, state: State, draws: Draws) -> Tensor:
        return best_actions(self.action_values(state))

    def policy(self, state: State) -> Tensor:
        return self.player.policy(state)


def caching_level(run_dir: Path, level: int, game: Game) -> CachingPlayer:
    """The agent of a level. Raises as `selfplay.players.levels.load_level`."""
    return CachingPlayer(load_level(run_dir, level, game))
