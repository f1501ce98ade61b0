"""The base class of players that wrap another player."""

from typing import ClassVar

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games.state import State
from selfplay.players.player import Capability, Player


class PlayerWrapper(Player):
    """Acts as `player` does, and has its capabilities. Subclasses override what they change.

    A capability that a subclass overrides is offered only if the wrapped player has it too, unless it is in `adds`.
    """

    adds: ClassVar[tuple[type, ...]] = ()
    """Capabilities that a subclass has regardless of the player that it wraps."""

    def __init__(self, player: Player, name: str | None = None) -> None:
        self.player, self.name = player, name or player.name

    def act(self, state: State, draws: Draws) -> Tensor:
        return self.player.act(state, draws)

    def as_a(self, capability: type[Capability]) -> Capability | None:
        wrapped = self.player.as_a(capability)
        own = super().as_a(capability)
        return own if own is not None and (wrapped is not None or capability in self.adds) else wrapped
