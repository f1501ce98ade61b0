"""The base classes of all players, and helpers to turn policies into actions and back."""

from abc import ABC, abstractmethod
from html import escape
from typing import ClassVar, TypeVar

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, below
from selfplay.games.state import State

Capability = TypeVar("Capability")


class Player(ABC):
    """Chooses an action in each match of a batch.

    A player does not keep the state of matches, so one player can play thousands of matches at once, on both sides.
    `selfplay.players.capabilities` lists what some players can do beyond that.
    """

    name: str

    @abstractmethod
    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[B]: a legal action for each unfinished match; any number where the match is over.

        `draws` are the random numbers of this ply; a player uses no other source of randomness.

        Raises ForfeitError if the player gives up, which only a player that `FollowsMatch` may do.
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def _repr_html_(self) -> str:
        """The name of the player and what it is, as a notebook shows them."""
        about = (type(self).__doc__ or "").strip().partition("\n")[0]
        return f"<b>{escape(self.name)}</b><br>{escape(about)}"

    def as_a(self, capability: type[Capability]) -> Capability | None:
        """The player as one with this capability (see `selfplay.players.capabilities`); None if it lacks it."""
        return self if isinstance(self, capability) else None


def one_hot_policy(actions: Tensor, mask: Tensor) -> Tensor:
    """float64[B, A]: probability 1 on `actions` (int64[B]) in the matches where `mask` (bool[B, A]) allows any."""
    policy = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)
    policy[torch.arange(len(actions), device=mask.device), actions] = 1.0
    return policy * mask


def uniform_policy(mask: Tensor) -> Tensor:
    """float64[B, A]: the same probability on each action that `mask` (bool[B, A]) allows; 0 where it allows none."""
    allowed = mask.to(torch.float64)
    return allowed / allowed.sum(dim=1, keepdim=True).clamp(min=1)


def pick_actions(mask: Tensor, bits: Tensor) -> Tensor:
    """int64[B]: one of the actions that `mask` (bool[B, A]) allows, each equally likely, by random bits (int64[B])."""
    skip: Tensor = below(bits, mask.sum(dim=1))
    chosen = mask & (mask.cumsum(dim=1) == skip[:, None] + 1)
    return chosen.to(torch.uint8).argmax(dim=1)


def sample_actions(policy: Tensor, uniforms: Tensor) -> Tensor:
    """int64[B]: an action from each row of `policy` (float64[B, A]), by the inverse of its distribution function.

    `uniforms`: float64[B] in [0, 1). Never picks an action of probability 0, however the sums are rounded.
    """
    cumulative = policy.cumsum(dim=1)
    chosen = (cumulative > uniforms[:, None] * cumulative[:, -1:]) & (policy > 0)
    return chosen.to(torch.uint8).argmax(dim=1)


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
