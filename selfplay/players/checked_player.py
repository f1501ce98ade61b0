"""Players from outside this package: what they return is checked, and their errors are one line with their file."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from numbers import Integral
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.error_places import is_outside
from selfplay.errors import ConformanceError, IllegalActionError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.outside_errors import errors_of_outside
from selfplay.players.player import ActionValues, Player, PlayerWrapper, SearchedPolicies

ROUNDING = 1e-4
"""By how much the probabilities of a policy may differ from 1 in total; they can be float32."""


Answer = TypeVar("Answer")


def ask_outside(player: Player, name: str, method: Callable[..., Answer], *arguments: Any) -> Answer:
    """What a method of a player from outside this package returns.

    Args:
        name: what errors call the player.
        method: the method as `Player` or a protocol declares it, with the type of what it returns.
        arguments: the player is given copies of tensors, states and matches, which it may change.

    Returns: what the player has returned; its tensors need no gradients.

    Raises:
        SettingError: the player raises an error.
        ConformanceError: the player returns another type than `method` declares.
    """
    with _reported(player, name):
        answer: object = getattr(player, method.__name__)(*map(_copied, arguments))
        kinds = _kinds(get_type_hints(method)["return"])
        if not isinstance(answer, kinds):
            wanted = " or ".join(NAMES.get(kind, kind.__name__) for kind in kinds)
            raise _fault(name, f"{method.__name__} must return {wanted}, not {shortened(repr(answer))}")
    return cast(Answer, _with_tensors(Tensor.detach, answer))


NAMES = {NoneType: "None", Integral: "a whole number"}
"""What messages call some types."""


def _kinds(annotation: Any) -> tuple[type, ...]:
    """The types that a result with this annotation has. What a method returns that should return nothing is ignored."""
    if annotation is NoneType:
        return (object,)
    if get_origin(annotation) is tuple:
        return (tuple,)
    return tuple(Integral if kind is int else kind for kind in get_args(annotation) or (annotation,))


def _copied(argument: Any) -> Any:
    return argument.clone() if isinstance(argument, Match) else _with_tensors(Tensor.clone, argument)


def _with_tensors(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with its tensors, also those in tuples, replaced by what `change` makes of them."""
    if isinstance(value, Tensor):
        return change(value)
    if not isinstance(value, tuple):
        return value
    parts = [_with_tensors(change, part) for part in value]
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)


def _reported(player: Player, name: str) -> AbstractContextManager[None]:
    return errors_of_outside("player", name, type(player.unwrapped).__module__)


def _fault(name: str, what: str) -> ConformanceError:
    return ConformanceError(f"player {shortened(name)!r}: {what}")


class CheckedPlayer(PlayerWrapper):
    """A player from outside this package, whose errors and illegal actions are reported in one line with its file.

    All methods are given copies of states, which they may change; see `ask_outside`.
    """

    def __init__(self, player: Player, game: Game, name: str) -> None:
        if not isinstance(getattr(player, "name", None), str):
            raise ConformanceError(f'player {shortened(name)!r}: it has no name; write name = "..." in its class')
        super().__init__(player)
        self.game, self.given_name = game, name

    def act(self, state: State, draws: Draws) -> Tensor:
        with _reported(self.player, self.given_name):
            action: object = self.player.act(state.clone(), _copied(draws))
            if not isinstance(action, Tensor) or (action.dtype, action.shape) != (torch.int64, state.terminated.shape):
                wanted = f"must return int64[{state.batch_size}], a legal action for each match"
                raise self._fault(f"act {wanted}, not {shortened(repr(action))}")
            try:
                self.game.step(state, action)
            except IllegalActionError as error:
                raise self._fault(str(error)) from error
        return action

    def policy(self, state: State) -> Tensor | None:
        policy = self._asked(Player.policy, state)
        with _reported(self.player, self.given_name):
            if policy is not None:
                self._check_shape("policy", policy, state)
                legal, sums = self.game.legal_action_mask(state), policy.double().sum(dim=1)
                fits = ((policy >= 0) & (legal | (policy == 0))).all()
                if not fits or ((sums - (~state.terminated).double()).abs() > ROUNDING).any():
                    raise self._fault("policy must give probabilities of the legal actions, which sum to 1")
        return policy

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues | None:
        found = self._asked(Player.value_actions, state, draws)
        with _reported(self.player, self.given_name):
            if found is not None:
                self._check_shape("action_values", found.values, state)
        return found

    def searched(self, state: State, draws: Draws) -> SearchedPolicies | None:
        return self._asked(Player.searched, state, draws)

    def explores(self, draws: Draws) -> Tensor | None:
        return self._asked(Player.explores, draws)

    def without_time_limit(self) -> Player:
        unlimited = copy(self)
        unlimited.player = self._asked(Player.without_time_limit)
        return unlimited

    def _asked(self, method: Callable[..., Answer], *arguments: Any) -> Answer:
        return ask_outside(self.player, self.given_name, method, *arguments)

    def _check_shape(self, method: str, given: object, state: State) -> None:
        shape = (state.batch_size, self.game.num_distinct_actions)
        if not isinstance(given, Tensor) or not given.is_floating_point() or given.shape != shape:
            wanted = f"must return float{list(shape)}, a number for each action, or None"
            raise self._fault(f"{method} {wanted}, not {shortened(repr(given))}")

    def _fault(self, what: str) -> ConformanceError:
        return _fault(self.given_name, what)


def checked_player(player: object, game: Game, name: str | None = None) -> Player:
    """A player of this game; one from outside this package inside a `CheckedPlayer`.

    Errors call it `name`, or what it calls itself. A kind of players from outside can make a player of this package,
    which keeps its faster methods. Raises SettingError if it is not a player, or one of another game.
    """
    if not isinstance(player, Player):
        given = f"player={shortened(repr(player))}" if name is None else f"player {shortened(name)!r}"
        raise SettingError(f"{given}: must be a player, such as RandomPlayer(game)")
    own = getattr(player, "game", game)
    if getattr(own, "rules", game.rules) != game.rules:
        plays = own.name if own.name != game.name else "another game of the same name"
        raise SettingError(f"player {shortened(getattr(player, 'name', ''))!r} plays {plays}, not {game.name}")
    if not is_outside(type(player.unwrapped).__module__) or checked_layer(player) is not None:
        return player
    return CheckedPlayer(player, game, name or str(getattr(player, "name", type(player).__name__)))


def checked_layer(player: Player) -> CheckedPlayer | None:
    """The layer of a player that checks the player inside it; None if no layer does."""
    while isinstance(player, PlayerWrapper) and not isinstance(player, CheckedPlayer):
        player = player.player
    return player if isinstance(player, CheckedPlayer) else None
