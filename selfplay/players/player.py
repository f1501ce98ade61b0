"""What every player can do: choose an action for each match of a batch, all at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws, below
from selfplay.games.state import State

if TYPE_CHECKING:
    from selfplay.games.match_record import MatchRecord


class Player(ABC):
    """Chooses actions. Holds no state of any match, so one player can play thousands of matches, on both sides.

    One that `follows` holds the state of one match, and can still play both of its sides.
    """

    name: str
    learns: bool = False
    """Whether it learns from the matches that it plays: the arena then plays them one at a time and shows it each."""

    follows: bool = False
    """Whether it has to be told all plies of its match: matches are then played one at a time, and `follow` is called
    before each `act`."""

    plays_anywhere: bool = False
    """Whether it can play matches on any device; the others' matches are played on the CPU."""

    @abstractmethod
    def act(self, state: State, draws: Draws) -> Tensor:
        """int64[B]: a legal action for each match that goes on; anything where it is over.

        `draws` are the random numbers of this ply; a player uses no other source of chance.

        Raises ForfeitError if the player gives up its match, which only one that `follows` may do.
        """

    @abstractmethod
    def policy(self, state: State) -> Tensor:
        """float64[B, A]: the probability of each action; the rows of matches that are over are 0."""

    def follow(self, actions: Sequence[int]) -> None:  # noqa: B027 - most see all they need in the position
        """Be told the actions of the match so far; called only if `follows`, before `act` for the match's next ply."""

    def action_values(self, state: State) -> Tensor | None:
        """float32[B, A]: what the player thinks of each action, on a scale of its own; nan where illegal.

        None if it thinks nothing of actions.
        """
        return None

    def move_to(self, device: str) -> None:  # noqa: B027 - most compute on the CPU alone, or where the match is
        """Compute on this device (cpu, cuda) from now on, wherever the matches are."""

    def bytes_on_device(self) -> int:
        """The memory that it needs on a device, however many matches it plays there."""
        return 0

    def explores(self, draws: Draws) -> Tensor | None:
        """bool[B]: whether the action that `act` gives with these draws is a random one; None if it never explores."""
        return None

    def after_match(self, record: "MatchRecord", seats: tuple[int, ...]) -> None:  # noqa: B027 - most learn nothing
        """Learn from a match that is over; called only if `learns`, once a match.

        Args:
            record: one match (B = 1).
            seats: the seats that this player held: (0,) moving first, (1,) moving second, (0, 1) against itself.
        """

    def matches_seen(self) -> int:
        """The number of matches that it has learned from, ever."""
        return 0

    def status(self) -> object | None:
        """What a player that learns knows by now, said in a few words by its `str`; None if there is nothing to say."""
        return None


def one_hot_policy(actions: Tensor, mask: Tensor) -> Tensor:
    """float64[B, A]: probability 1 on `actions` (int64[B]) in the matches where `mask` (bool[B, A]) allows any."""
    policy = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)
    policy[torch.arange(len(actions), device=mask.device), actions] = 1.0
    return policy * mask


def uniform_policy(mask: Tensor) -> Tensor:
    """float64[B, A]: the same probability on each action that `mask` (bool[B, A]) allows; 0 where it allows none."""
    allowed = mask.to(torch.float64)
    return allowed / allowed.sum(dim=1, keepdim=True).clamp(min=1)


def pick_actions(mask: Tensor, words: Tensor) -> Tensor:
    """int64[B]: one of the actions that `mask` (bool[B, A]) allows, each equally likely, by random words (int64[B])."""
    skip: Tensor = below(words, mask.sum(dim=1))
    chosen = mask & (mask.cumsum(dim=1) == skip[:, None] + 1)
    return chosen.to(torch.uint8).argmax(dim=1)


def sample_actions(policy: Tensor, uniforms: Tensor) -> Tensor:
    """int64[B]: an action from each row of `policy` (float64[B, A]), by the inverse of its distribution function.

    `uniforms`: float64[B] in [0, 1). Never picks an action of probability 0, however the sums are rounded.
    """
    cumulative = policy.cumsum(dim=1)
    chosen = (cumulative > uniforms[:, None] * cumulative[:, -1:]) & (policy > 0)
    return chosen.to(torch.uint8).argmax(dim=1)
