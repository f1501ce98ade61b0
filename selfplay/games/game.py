"""The base class of games, with what the author of a game writes; docs/adding_a_game.md shows an example.

The terms are those of OpenSpiel and PGX. Further parts of the class: boards and parameters (`named_boards`), moves as
texts (`move_texts`), and how the rules step a batch of matches (`stepping`).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from inspect import get_annotations
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.positions import packed_array
from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.found_symmetries import found_symmetries
from selfplay.games.move_texts import MoveTexts
from selfplay.games.named_boards import NamedBoards
from selfplay.games.observation_codec import default_observation_shape
from selfplay.games.rules import (
    Features,
    Rules,
    Symmetries,
    TurningRules,
    with_own_end,
    with_wide_words,
)
from selfplay.games.state import State
from selfplay.games.touched_squares import TouchedSquares, touched_squares
from selfplay.pickling import MadeAgain

SEATS = ("first", "second")
"""The names of the seats: the player who moves first has seat 0."""


class GameClass(type):
    """The class of classes of games."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        """A game, whose rules are complete, with words as wide as its boards and actions need; by default it shows all
        fields."""
        game = super().__call__(*arguments, **options)
        game.given = {name: value for name, value in vars(game).items() if name in get_annotations(Game)}
        # What is wrong with its attributes is said where games are checked.
        with suppress(Exception):
            if not hasattr(game, "observation_shape"):
                game.observation_shape = default_observation_shape(game.rules.shown, game.board)
            if game.pass_action is None:
                game.rules = with_own_end(game.rules)
            rules = with_wide_words(game.rules, game.num_distinct_actions, game.pass_action)
            if rules is not game.rules:
                game.rules, game.features = rules, rules.widening(game.features)
        return game


class Game(MadeAgain, MoveTexts, NamedBoards, metaclass=GameClass):
    """A two-player zero-sum game of perfect information without chance.

    Examples:
        >>> game = selfplay.make_game("connect_four")
        >>> state = game.state_after(["4", "4", "3"])
        >>> game.legal_action_mask(state).sum().item(), game.string_to_action("5")
        (7, 4)
    """

    name: str
    num_distinct_actions: int
    """A: actions are ints in range(A)."""
    pass_action: int | None = None
    """The action that is taken where no other is legal; None: in this game there is always another."""
    chosen_pass: int | None = None
    """The action by which a player passes who has other actions; None: nobody can."""
    observation_shape: tuple[int, ...]
    """The shape of what a network sees; (2, rows, columns) for boards of squares. By default it shows all fields of a
    position (`selfplay.games.observation_codec.default_observation_shape`)."""
    board: tuple[int, int] | None = None
    """The rows and columns of the board, if it is not square; only read where there is no `observation_shape`."""
    max_game_length: int
    rules: Rules
    turning_rules: TurningRules | None = None
    """What exact endgames need in addition; None if the game does not turn discs."""
    exact_solver: str | None = None
    """The name of the solver of positions in `selfplay.search.exact_solver`; None if there is none."""
    features: Features | None = None
    """Numbers from which searches can value positions; None if there are none besides the result of a match."""
    usual_evaluation: str = "none"
    """The evaluation of `conf/evaluation/` by which searches value positions where no agent does."""
    komi: float | None = None
    """The points that player 1 gets because player 0 moves first; None if the game does not compensate for it."""
    most_points: float | None = None
    """The most points by which a match can be won; None: as many as the board has squares, and the komi."""
    own_name: str | None = None
    """The name that its class gave a game that `make_game` has made, which people see; None: this is `name`."""
    given: Mapping[str, object] = MappingProxyType({})
    """Its attributes when its class had made it, such as rules that the class reads from a file."""
    made_as: tuple[str, Rules | None] | None = None
    """The name with which `make_game` made this game, and its rules then; None: made by calling the class."""

    def score(self, state: State) -> Tensor:
        """float32[B]: the lead of player 0 in points; where the game does not count points, its return."""
        if self.rules.margin is None:
            return state.returns
        lead = self.lead_to_move(state)
        return torch.where(state.current_player == 0, lead, -lead).to(torch.float32)

    def komi_in(self, state: State) -> float | None:
        """The points that player 1 gets at the end of a match (B = 1): komi, and in Go those for handicap stones."""
        return self.komi

    @property
    def largest_lead(self) -> float | None:
        """The most points by which a match can be won; None if the game does not say it and has no board."""
        if self.most_points is None and self.num_squares is not None:
            return self.num_squares + abs(self.komi or 0)
        return self.most_points

    @property
    def counts_discs(self) -> bool:
        """Whether positions can be valued by their discs: the game has a feature of this name."""
        return self.features is not None and "discs" in self.features.names

    def owners(self, state: State) -> Tensor:
        """int8[B, S]: 1 for a square that counts for player 0 at the end, -1 for player 1, 0 for neither.

        Only in a game whose `rules` have `owned`, in which square i of the board is bit i of its words.
        """
        assert self.kernels.owned is not None, "only called for games in which squares count"
        to_move, other = map(self.square_bits, self.kernels.owned(state.position))
        return torch.where(state.current_player[:, None] == 0, to_move - other, other - to_move)

    @property
    def symmetries(self) -> Symmetries:
        """The symmetries of the game, which train networks on more positions; by default those that are found."""
        return self.found_symmetries

    @cached_property
    def found_symmetries(self) -> Symmetries:
        """The symmetries of the board that are found in random positions (`selfplay.games.found_symmetries`), which can
        be more or fewer than those that the game declares.

        Examples:
            >>> game = selfplay.make_game("othello")
            >>> len(game.symmetries.actions), len(game.found_symmetries.actions)  # four keep the start
            (4, 8)
        """
        return found_symmetries(self, self.max_game_length)

    @cached_property
    def touched_squares(self) -> TouchedSquares | None:
        """The squares that each action touches (`selfplay.games.touched_squares`); None: there is no board."""
        return touched_squares(self, self.max_game_length)

    @property
    def declares_symmetries(self) -> bool:
        """Whether the game has symmetries of its own instead of those that are found."""
        return type(self).symmetries is not Game.symmetries

    def symmetries_of(
        self, images: Iterable[NDArray[np.int64]], actions: NDArray[np.int64] | None = None
    ) -> Symmetries:
        """The symmetries of the board of squares with these images.

        Args:
            images: the number of the square that comes to each place of the board, `square_numbers` first.
            actions: int64[S, A], as in `Symmetries`; None: action i is on square i, and all others stay, as a pass.
        """
        sources = np.stack([image.reshape(-1) for image in images])
        count, size = sources.shape
        if actions is None:
            others = np.tile(np.arange(size, self.num_distinct_actions), (count, 1))
            actions = np.concatenate([np.argsort(sources, axis=1), others], axis=1)
        planes = size * np.arange(self.observation_shape[0])[:, None]
        return Symmetries(actions, (planes + sources[:, None]).reshape(count, -1))

    def state_of_squares(self, squares: Tensor) -> State:
        """The state whose `squares` (int8[B, S]) these are.

        Raises:
            SettingError: the board alone does not determine the position, as by default.
            IllegalActionError: the stones cannot have been placed in turns.
        """
        raise SettingError(
            f"game={self.name}: its boards do not determine who is to move; set another game, such as tictactoe"
        )

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        """Check a board (int8[S]) that a person sets up, with player `to_move` (0 or 1) to move.

        Raises:
            SettingError: positions of this game cannot be set up, as by default.
            IllegalActionError: no match leads to this position.
        """
        raise SettingError(f"game={self.name}: its positions cannot be set up; give the moves that lead to them")

    def position_set_up(self, own: int, opp: int, to_move: int) -> Any:
        """The position with these stones, of player `to_move` and of the other; its other fields are as at the start.

        Only called for a board that `check_set_up` accepts.
        """
        return self.rules.initial._replace(own=own, opp=opp)

    # ------------------------------------------------------------------ the same for all games

    def __reduce__(self) -> tuple[Any, ...]:
        """Only attributes that were changed since the game was made are pickled: rules may be closures, which cannot
        be."""
        left_out = {name for name in vars(self) if _is_cached(type(self), name)} | {"made_as", "given", "_given"}
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        made = vars(self._make())
        for name in ("rules", "features"):  # wide ones are made again for each game
            if made.get(name) == kept.get(name):
                kept.pop(name, None)
        return self._make, (), {name: value for name, value in kept.items() if made.get(name) is not value}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def identity(self) -> tuple[type["Game"], str, Rules]:
        """Equal for games that are the same, however often they are made."""
        return type(self), self.name, self.rules

    def set_up(self, squares: Iterable[int], to_move: int) -> State:
        """The position (B = 1) with this board, in which player `to_move` (0 or 1) moves, set up by a person.

        Square i of the board is bit i of the fields `own` and `opp` of the position.

        Args:
            squares: 1 for a stone of player 0, -1 for one of player 1, 0 for an empty square.

        Raises:
            SettingError: positions of this game cannot be set up.
            IllegalActionError: no match leads to this position, or the match is over there.
        """
        board = np.fromiter(squares, dtype=np.int8)
        if self.num_squares is not None and len(board) != self.num_squares:
            raise IllegalActionError(f"a board has {self.num_squares} squares, not {len(board)}")
        self.check_set_up(board, to_move)
        first, second = (sum(1 << int(square) for square in np.flatnonzero(board == stone)) for stone in (1, -1))
        own, opp = (second, first) if to_move else (first, second)
        state = self.state_at(torch.from_numpy(packed_array([self.position_set_up(own, opp, to_move)])))
        if bool(state.terminated):
            raise IllegalActionError("the match is over in this position; set up one in which it is not")
        return state._replace(current_player=torch.tensor([to_move], dtype=torch.int8))

    def set_up_as_in(self, game: "Game", state: State) -> State:
        """The position (B = 1) with the board of a `state` of `game`, which is this game with other parameters:
        positions may hold one, such as the komi. The start of one is that of the other. Raises as `set_up`."""
        if game.rules == self.rules:
            return state
        if state.key() == game.init().key():
            return self.init()
        return self.set_up(game.squares(state)[0].tolist(), int(state.current_player))

    def resumed(self, state: State, to_move: int) -> State:
        """The position (B = 1) of a match that has ended, such as by passes, with this player to move. Raises as
        `set_up`."""
        return self.set_up(self.squares(state)[0].tolist(), to_move)

    @property
    def can_be_set_up(self) -> bool:
        """Whether positions can be set up."""
        return type(self).check_set_up is not Game.check_set_up


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), cached_property)
