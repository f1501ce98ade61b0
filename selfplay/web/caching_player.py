"""A player that caches the action values of positions, because many matches reach the same positions."""

from collections import OrderedDict
from collections.abc import Callable

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.state import State
from selfplay.players.capabilities import ValuesActions
from selfplay.players.player import Player
from selfplay.players.value_net import best_actions
from selfplay.players.wrapper import PlayerWrapper

MAX_POSITIONS = 20_000


class CachingPlayer(PlayerWrapper):
    """Plays the best action by the values that `player` gives, and caches these values.

    `player` must always take its best action, so its temperature must be 0. Several threads may use it at once.
    """

    def __init__(self, player: Player) -> None:
        super().__init__(player)
        valuing = player.as_a(ValuesActions)
        if valuing is None:
            raise TypeError(f"{player.name} does not value its actions, so there is nothing to cache")
        self._valuing = valuing
        self._values: OrderedDict[tuple[int, int, int], Tensor] = OrderedDict()

    @classmethod
    def around(cls, make: Callable[[], Player]) -> "CachingPlayer":
        """A cache around the player that `make` makes."""
        return cls(make())

    def action_values(self, state: State) -> Tensor:
        if state.batch_size != 1:
            return self._valuing.action_values(state)
        key = (int(state.own), int(state.opp), int(state.current_player))
        values = self._values.get(key)
        if values is None:
            # Two threads may both get here; they then write the same values.
            values = self._values[key] = self._valuing.action_values(state)
            if len(self._values) > MAX_POSITIONS:
                self._values.popitem(last=False)
        return values

    def act(self, state: State, draws: Draws) -> Tensor:
        return best_actions(self.action_values(state))
