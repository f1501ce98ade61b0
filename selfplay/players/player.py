"""The base class of players, wrappers around players, and helpers to turn policies into actions and back."""

from abc import ABC, abstractmethod
from copy import copy
from html import escape
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, below
from selfplay.errors import NotNowError
from selfplay.games import make_game
from selfplay.games.game import Game
from selfplay.games.state import State


class SearchedPolicies(NamedTuple):
    """What searches found in B positions."""

    policy: Tensor
    """float64[B, A]: the improved policy, which sums to 1 and is 0 where illegal; 0 where nothing was searched."""
    value: Tensor
    """float64[B], in [-1, 1]: the value of the position to the player to move; nan where nothing was searched."""


class ActionValues(NamedTuple):
    """What a player expects of the actions in B positions."""

    values: Tensor
    """float32[B, A]: the value of each action to the player to move, on the player's own scale; nan if the action is
    illegal, or the player does not know its value."""
    neutral: float = 0.0
    """The value of an even match."""
    points_per_value: float | None = None
    """The points at the end of a match that a value of 1 stands for; None if values are not points."""
    is_exact: Tensor | None = None
    """bool[B]: the positions whose values are those of the game's exact solver; None: no position's are."""
    visits: Tensor | None = None
    """int64[B, A]: the number of simulations through each action, 0 where illegal; None if it does not simulate."""
    priors: Tensor | None = None
    """float64[B, A]: how likely each action seemed before simulations, 0 where illegal; None likewise."""
    preferred: Tensor | None = None
    """int64[B]: the actions that its search finds best; None: those with the highest values."""


class Player(ABC):
    """Chooses an action in each match of a batch.

    A player does not keep the state of matches, so one player can play thousands of matches at once, on both sides.
    Only `name` and `act` are required. By default nothing else is known about a player: the other methods return None,
    or what is true of a player without the ability. `selfplay.players.capabilities` has methods that only some players
    have.
    """

    name: str

    @abstractmethod
    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[B]: a legal action for each unfinished match; any number where the match is over.

        `draws` are the random numbers of this ply; a player uses no other source of randomness.

        Raises ForfeitError if the player gives up, which only a player that `FollowsMatch` may do.
        """

    @property
    def unwrapped(self) -> "Player":
        """The player inside all wrappers. What it can do besides: `selfplay.players.capabilities.capability`."""
        return self

    def policy(self, state: State) -> Tensor | None:
        """float64[B, A]: the probability of each action; the rows of finished matches are 0.

        None if it is not known in arbitrary positions; the player then only plays matches.
        """
        return None

    def action_values(self, state: State) -> Tensor | None:
        """float32[B, A]: the value of each action to the player to move, on the player's own scale.

        nan if the action is illegal, or the player does not know its value. None if it does not value actions.
        """
        return None

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues | None:
        """The values of actions with all that is known about them; None if it does not value actions.

        With `draws` they are those of the search by which `act` chooses its action when it has the same arguments, for
        one position (B = 1).
        """
        values = self.action_values(state)
        return None if values is None else ActionValues(values)

    def searched(self, state: State, draws: Draws) -> SearchedPolicies | None:
        """The results of the searches by which `act` chooses its actions when it has the same arguments.

        Calling `act` before does not change them. A player may keep the searches of its `act` calls and return these
        instead of searching again. None if it does not improve its policy by searching.
        """
        return None

    def explores(self, draws: Draws) -> Tensor | None:
        """bool[B]: whether `act` plays a random action with these draws; None if it never explores."""
        return None

    def without_time_limit(self) -> "Player":
        """The same player without a time limit. Both may share tables, so only one may be used at a time."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def _repr_html_(self) -> str:
        """The name of the player and what it is, as a notebook shows them."""
        about = (type(self).__doc__ or "").strip().partition("\n")[0]
        return f"<b>{escape(self.name)}</b><br>{escape(about)}"


def policy_of(player: Player, state: State) -> Tensor:
    """float64[B, A]: the probability of each action of `player`. Raises NotNowError if it has no policy."""
    if (policy := player.policy(state)) is None:
        raise NotNowError(f"{player.name} only plays matches; it has no policy for arbitrary positions")
    return policy


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
    """Does everything as `player` does. Subclasses override the methods that they change."""

    def __init__(self, player: Player, name: str | None = None) -> None:
        self.player, self.name = player, name or player.name

    @property
    def unwrapped(self) -> Player:
        return self.player.unwrapped

    def act(self, state: State, draws: Draws) -> Tensor:
        return self.player.act(state, draws)

    def policy(self, state: State) -> Tensor | None:
        return self.player.policy(state)

    def action_values(self, state: State) -> Tensor | None:
        found = self.value_actions(state)
        return None if found is None else found.values

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues | None:
        return self.player.value_actions(state, draws)

    def searched(self, state: State, draws: Draws) -> SearchedPolicies | None:
        return self.player.searched(state, draws)

    def explores(self, draws: Draws) -> Tensor | None:
        return self.player.explores(draws)

    def without_time_limit(self) -> Player:
        unlimited = copy(self)
        unlimited.player = self.player.without_time_limit()
        return unlimited


class RandomPlayer(Player):
    """Plays every legal action with the same probability."""

    name = "random"

    def __init__(self, game: Game | str) -> None:
        self.game = make_game(game)

    def act(self, state: State, draws: Draws) -> Tensor:
        return self.game.kernels.random_actions(state, draws)

    def policy(self, state: State) -> Tensor:
        return uniform_policy(self.game.legal_action_mask(state))
