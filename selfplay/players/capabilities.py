"""What some players can do, as protocols that are asked for by type.

A player has such a capability if it has all methods of the protocol. A wrapper does not have those of the player inside
it, and what players from outside this package return is checked, so ask for them by `capability`:

    if learner := capability(player, LearnsFromMatches):
        learner.after_match(record, seats)
"""

from functools import partial
from types import SimpleNamespace
from typing import Protocol, TypeVar, cast, runtime_checkable

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.error_places import is_outside
from selfplay.games.match import Match
from selfplay.games.state import MatchRecord, State
from selfplay.players.checked_player import ask_outside, checked_layer
from selfplay.players.player import Player, SearchedPolicies
from selfplay.search.mcts.tree_search import TreeSearch


@runtime_checkable
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


@runtime_checkable
class FollowsMatch(Protocol):
    """Keeps the state of one match. So its matches are played one at a time, and it receives every ply.

    Only such a player may raise ForfeitError from `act`.
    """

    def follow(self, match: Match) -> None:
        """Receive the match so far, with the position in which it begins; called before each `act`, whose state is
        that of the match."""


@runtime_checkable
class EvaluatesOnDevice(Protocol):
    """Evaluates positions on any device, as players and evaluators with a network do; matches are played on the CPU."""

    def move_to(self, device: str) -> None:
        """Evaluate on this device ("cpu" or "cuda") from now on."""


@runtime_checkable
class PredictsOutcomes(Protocol):
    """Predicts the outcome of a match after each action, on one scale for all positions."""

    def predicted_outcomes(self, state: State) -> Tensor:
        """float32[B, A]: the outcome for the player to move, from -1 to 1; nan if illegal."""


@runtime_checkable
class Explains(Protocol):
    """Says why it chooses its actions."""

    def reason(self, state: State) -> str | None:
        """Why `act` chooses as it does in this position (B = 1), such as "a predicted win", in a few words."""


@runtime_checkable
class ReportsStatus(Protocol):
    """Says what it has learned so far."""

    def status(self) -> object:
        """Its `str` is a short description."""


@runtime_checkable
class SolvesExactly(Protocol):
    """Solves some positions with the exact solver of the game."""

    def solves(self, state: State) -> Tensor:
        """bool[B]: the positions that it solves; the values of their actions are those of the solver."""


@runtime_checkable
class NamesValues(Protocol):
    """Puts exact values in words."""

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in match `row` of `state` in words, such as "wins in 8"."""


@runtime_checkable
class Searches(Protocol):
    """Chooses its actions by searches, which also find policies and values."""

    def chosen(self, state: State, draws: Draws) -> tuple[Tensor, SearchedPolicies]:
        """The actions of `act` with these arguments, and what the searches found in each position."""


@runtime_checkable
class GrowsTrees(Protocol):
    """Chooses its actions by tree search."""

    def tree_search(self) -> TreeSearch:
        """The search."""


Ability = TypeVar("Ability")


def capability(player: Player, kind: type[Ability]) -> Ability | None:
    """The methods of a protocol of this module, of the player inside all wrappers; None if it does not have them all.

    Those of a player from outside this package are called by `ask_outside`: they are given copies of states and
    matches, and their errors are a SettingError, results of other types a ConformanceError, of one line with its file.

    Examples:
        >>> from selfplay.players.capabilities import ReportsStatus, capability
        >>> capability(selfplay.make_player("random", "tictactoe"), ReportsStatus) is None
        True
    """
    inner = player.unwrapped
    if not isinstance(inner, kind):
        return None
    if not is_outside(type(inner).__module__):
        return inner
    layer = checked_layer(player)
    name = str(getattr(inner, "name", type(inner).__name__)) if layer is None else layer.given_name
    declared = {method: value for method, value in vars(kind).items() if not method.startswith("_")}
    asking = {method: partial(ask_outside, inner, name, value) for method, value in declared.items()}
    return cast(Ability, SimpleNamespace(**asking))


def chosen_action(player: Player, match: Match, draws: Draws) -> int:
    """The action of a player in a match, which it is told if it follows it. Raises ForfeitError if it gives up."""
    if follower := capability(player, FollowsMatch):
        follower.follow(match)
    return int(player.act(match.state, draws))


def learners_among(players: tuple[Player | None, Player | None]) -> dict[Player, LearnsFromMatches]:
    """The players that learn, each once."""
    return {
        player: learner
        for player in players
        if player is not None and (learner := capability(player, LearnsFromMatches))
    }
