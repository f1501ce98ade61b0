"""What some players can do beyond choosing actions, as protocols.

A player offers a capability by having its methods. Ask for one with `Player.as_a`, which also finds the capabilities
of a player inside a wrapper:

    if (learner := player.as_a(LearnsFromMatches)) is not None:
        learner.after_match(record, seats)
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import NotNowError
from selfplay.games.state import MatchRecord, State

if TYPE_CHECKING:
    from selfplay.learners.experience.store import ExperienceStore
    from selfplay.players.player import Player


class HasPolicy(Protocol):
    """Knows the probability of each of its actions in any position."""

    def policy(self, state: State) -> Tensor:
        """float64[B, A]: the probability of each action; the rows of finished matches are 0."""


class ValuesActions(Protocol):
    """Estimates how good each action is."""

    def action_values(self, state: State) -> Tensor:
        """float32[B, A]: the value of each action to the player to move, on the player's own scale.

        nan if the action is illegal, or the player does not know its value.
        """


class LooksAhead(Protocol):
    """Values positions by searches that end in an evaluation."""

    most_plies_ahead: int
    """The largest depth of these searches."""

    def values_ahead(self, state: State, depth: int) -> Tensor:
        """float32[B]: the value to the player to move, `depth` plies ahead, on the player's own scale.

        Finished matches have their exact values.

        Args:
            depth: 1 to `most_plies_ahead`.
        """


class ValuesInPoints(Protocol):
    """May value its actions by the lead in points that it expects at the end of the match."""

    def points_per_value(self) -> float | None:
        """The points that a value of 1 stands for; None if values are not points."""


class CountsVisits(Protocol):
    """Divides a number of simulations among its actions."""

    def visit_counts(self, state: State) -> Tensor:
        """int64[B, A]: the number of simulations through each action; 0 where illegal."""


class SearchedPolicies(NamedTuple):
    """What searches found in B positions."""

    policy: Tensor
    """float64[B, A]: the improved policy, which sums to 1 and is 0 where illegal; 0 where nothing was searched."""
    value: Tensor
    """float64[B], in [-1, 1]: the value of the position to the player to move; nan where nothing was searched."""


class SearchesPolicies(Protocol):
    """Improves its policy by searching, in the matches that it learns from."""

    def searched(self, state: State, draws: Draws) -> SearchedPolicies:
        """The results of the searches by which `act` chooses its actions when it has the same arguments.

        Calling `act` before does not change them. A player may keep the searches of its `act` calls and return these
        instead of searching again.
        """


class PreparesAction(Protocol):
    """Can receive the random numbers of an action before it is asked for its values, so that it searches only once."""

    def prepare(self, state: State, draws: Draws) -> None:
        """From now on, use one search for the values of this position (B = 1) and for `act` with these draws."""


@runtime_checkable
class PredictsOutcomes(Protocol):
    """Predicts the outcome of a match after each action, on one scale for all positions."""

    def predicted_outcomes(self, state: State) -> Tensor:
        """float32[B, A]: the outcome for the player to move, from -1 to 1; nan if illegal."""


class Explores(Protocol):
    """Plays random actions now and then."""

    def explores(self, draws: Draws) -> Tensor:
        """bool[B]: whether `act` plays a random action with these draws."""


class LearnsFromMatches(Protocol):
    """Learns from its matches. They are played one at a time, and it receives each before the next begins."""

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        """Learn from a finished match; called once per match.

        Args:
            record: one match (B = 1).
            seats: the seats this player held: (0,) moving first, (1,) moving second, (0, 1) against itself.
        """

    def matches_seen(self) -> int:
        """The number of matches it has learned from, in this process and before."""


class FollowsMatch(Protocol):
    """Keeps the state of one match. So its matches are played one at a time, and it receives every ply.

    Only such a player may raise ForfeitError from `act`.
    """

    def follow(self, actions: Sequence[int]) -> None:
        """Receive the actions of the match so far; called before each `act`."""


@runtime_checkable
class PlaysOnDevice(Protocol):
    """Plays matches in the memory of any device; the matches of other players are played on the CPU."""

    def move_to(self, device: str) -> None:
        """Compute on this device ("cpu" or "cuda") from now on."""

    def bytes_on_device(self) -> int:
        """The memory the player itself needs on a device, independent of the number of matches."""


class ReportsStatus(Protocol):
    """Can describe what it has learned so far."""

    def status(self) -> object:
        """What it has learned; its `str` is a short description."""


class ExplainsActions(Protocol):
    """Can give the reasons for its actions."""

    def reason(self, state: State) -> str:
        """Why `act` chooses as it does in this position (B = 1), such as "a predicted win", in a few words."""


class KeepsExperience(Protocol):
    """Plays by an experience graph."""

    store: "ExperienceStore"


class SolvesPositions(Protocol):
    """Solves some positions exactly; the values of their actions are then those of the game's exact solver."""

    def solves(self, state: State) -> Tensor:
        """bool[B]: whether each position is solved exactly."""

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in a position that it solves, in words, such as "wins in 8"."""


class LimitsItsTime(Protocol):
    """May stop thinking early because of a time limit."""

    def without_time_limit(self) -> "Player":
        """The same player without a time limit."""


def learners_among(players: "tuple[Player | None, Player | None]") -> "dict[Player, LearnsFromMatches]":
    """The players that learn, each once."""
    learners = {player: player.as_a(LearnsFromMatches) for player in players if player is not None}
    return {player: learner for player, learner in learners.items() if learner is not None}


def policy_of(player: "Player", state: State) -> Tensor:
    """float64[B, A]: the probability of each action of `player`. Raises NotNowError if it has no policy."""
    if (with_policy := player.as_a(HasPolicy)) is None:
        raise NotNowError(f"{player.name} only plays matches; it has no policy for arbitrary positions")
    return with_policy.policy(state)
