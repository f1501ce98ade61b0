"""The base classes of players, and helpers to turn policies into actions and back."""

from abc import ABC, abstractmethod
from functools import cache
from html import escape
from typing import ClassVar, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.errors import ConformanceError, IllegalActionError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph
from selfplay.games.state import State
from selfplay.registry import errors_of_outside

Capability = TypeVar("Capability")


class Player(ABC):
    """Chooses an action in each match of a batch.

    A player does not keep the state of matches, so one player can play thousands of matches at once, on both sides.
    `selfplay.players.capabilities` lists what some players can do beyond that.
    """

    name: str
    neutral: float = 0.0
    """The value of an even match, if it values actions."""

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
        names = _members_of(capability)  # type: ignore[arg-type]  # classes can be hashed
        has_all = all(hasattr(self, name) for name in names)
        return cast(Capability, self) if has_all else None


@cache
def _members_of(capability: type) -> tuple[str, ...]:
    """The methods and attributes of a capability. They are kept, because asking a runtime protocol for them is slow."""
    members = {**vars(capability), **capability.__annotations__}
    return tuple(name for name in members if not name.startswith("_"))


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
    """Acts like `player` and has its capabilities. Subclasses override the methods that they change.

    A capability that a subclass overrides is offered only if the wrapped player has it too, unless it is in `adds`.
    """

    adds: ClassVar[tuple[type, ...]] = ()
    """Capabilities that a subclass has regardless of the player that it wraps."""

    def __init__(self, player: Player, name: str | None = None) -> None:
        self.player, self.name, self.neutral = player, name or player.name, player.neutral

    def act(self, state: State, draws: Draws) -> Tensor:
        return self.player.act(state, draws)

    def as_a(self, capability: type[Capability]) -> Capability | None:
        wrapped = self.player.as_a(capability)
        own = super().as_a(capability)
        return own if own is not None and (wrapped is not None or capability in self.adds) else wrapped


TIES = ("random", "lowest")


class BestValuePlayer(Player):
    """Takes an action with the largest value.

    Args:
        ties: which of several best actions is taken: "random", each equally likely, or "lowest".

    Raises:
        SettingError: `ties` is neither of these.
    """

    def __init__(self, ties: str = "random") -> None:
        if ties not in TIES:
            raise SettingError(f"ties={ties}: must be {' or '.join(TIES)}")
        self.ties = ties

    @abstractmethod
    def _values(self, state: State) -> NDArray[np.float64]:
        """float64[B, A]: the value of each action to the player to move; nan where illegal or the match is over."""

    def action_values(self, state: State) -> Tensor:
        """float32[B, A]: the value of each action to the player to move; nan where illegal."""
        return torch.from_numpy(self._values(state)).to(torch.float32)

    def act(self, state: State, draws: Draws) -> Tensor:
        return pick_actions(self._best(state), draws.bits(Purpose.TIE_BREAK))

    def policy(self, state: State) -> Tensor:
        return uniform_policy(self._best(state))

    def _best(self, state: State) -> Tensor:
        """bool[B, A]: the actions to choose from; none in a finished match."""
        values = self._values(state)
        # Compared in double precision, so that only equal values are a tie.
        best = values == np.nan_to_num(values, nan=-np.inf).max(axis=1, keepdims=True)
        if self.ties == "lowest":
            best &= best.cumsum(axis=1) == 1
        return torch.from_numpy(best)


class GraphPlayer(BestValuePlayer):
    """Takes an action with the largest value. For `ties` and its error see BestValuePlayer."""

    def __init__(self, graph: PositionGraph, ties: str = "random") -> None:
        super().__init__(ties)
        self.graph, self.game = graph, graph.game

    @abstractmethod
    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        """float64[B, A]: the value of each legal action to the player to move; any number where illegal.

        Args:
            numbers: int64[B], the numbers of the positions in the graph.
            to_move: int8[B], the player to move in each.
        """

    def _values(self, state: State) -> NDArray[np.float64]:
        """Raises IllegalActionError if a position cannot be reached from the start."""
        numbers = self.graph.numbers(state)
        legal = self.graph.legal[numbers] & ~state.terminated.numpy()[:, None]
        return np.where(legal, self.values_of_children(numbers, state.current_player.numpy()), np.nan)


class CheckedPlayer(PlayerWrapper):
    """A player from outside this package, whose errors and illegal actions are reported in one line with its file."""

    def __init__(self, player: Player, game: Game, name: str) -> None:
        super().__init__(player)
        self.game, self.given_name = game, name

    def act(self, state: State, draws: Draws) -> Tensor:
        subject = f"player {self.given_name!r}"
        with errors_of_outside("player", self.given_name, type(self.player).__module__):
            action: object = self.player.act(state, draws)
            if not isinstance(action, Tensor) or (action.dtype, action.shape) != (torch.int64, state.own.shape):
                wanted = f"must return int64[{state.batch_size}], a legal action for each match"
                raise ConformanceError(f"{subject}: act {wanted}, not {shortened(repr(action))}")
            try:
                self.game.step(state, action)
            except IllegalActionError as error:
                raise ConformanceError(f"{subject}: {error}") from error
        return action
