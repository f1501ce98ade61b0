"""The base class of games, with what the author of a game writes; docs/adding_a_game.md shows an example.

The terms are those of OpenSpiel and PGX.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from math import isfinite, nan, prod
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.checks import require
from selfplay.compute.positions import packed_array
from selfplay.errors import BrokenTranscriptError, IllegalActionError, SettingError, shortened
from selfplay.games.derived import Derivable
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Features, Rules, Symmetries, TurningRules, with_wide_words
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping
from selfplay.pickling import MadeAgain
from selfplay.registry import parts_of_game_name

FLAGS = {"true": 1, "1": 1, "false": 0, "0": 0}
"""The texts of parameters that are true or false."""
KINDS_OF_PARAMETERS = {bool: "true or false", int: "a whole number", float: "a number"}

# Takes linear time: it is tried once for each word.
MOVE_NUMBER = re.compile(r"(?<!\S)\d+\.+\s*")


def without_move_numbers(text: str) -> str:
    """A transcript without the numbers in front of its moves: 1. f5 d6 2. c3."""
    return MOVE_NUMBER.sub("", text)


SEATS = ("first", "second")
"""The names of the seats: the player who moves first has seat 0."""


class GameClass(type):
    """The class of classes of games."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        """A game, whose rules have words as wide as its boards and actions need."""
        game = super().__call__(*arguments, **options)
        # What is wrong with its attributes is said where games are checked.
        with suppress(Exception):
            rules = with_wide_words(game.rules, game.num_distinct_actions, game.pass_action)
            if rules is not game.rules:
                game.rules, game.features = rules, rules.widening(game.features)
        return game


class Game(MadeAgain, Derivable, BatchStepping, metaclass=GameClass):
    """A two-player zero-sum game of perfect information without chance.

    Examples:
        >>> game = selfplay.make_game("connect_four")
        >>> state = game.state_after(["4", "4", "3"])
        >>> game.legal_action_mask(state).sum().item(), game.string_to_action("5")
        (7, 4)
    """

    name: str
    sizes: tuple[int, ...] = ()
    """The boards that can be chosen, by the squares along a side; `name` alone means the first. The class is called
    with one of them, or with nothing for the first. Empty: the game has a single board."""
    other_sizes: range = range(0)
    """Further boards that can be chosen, which are not listed among the games."""
    num_distinct_actions: int
    """A: actions are ints in range(A)."""
    pass_action: int | None = None
    """The action that is taken where no other is legal; None: in this game there is always another."""
    chosen_pass: int | None = None
    """The action by which a player passes who has other actions; None: nobody can."""
    observation_shape: tuple[int, ...]
    """The shape of what a network sees; (2, rows, columns) for boards of squares."""
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
    counting_parameters: frozenset[str] = frozenset()
    """The parameters that only change how points are counted at the end of a match."""
    most_points: float | None = None
    """The most points by which a match can be won; None: as many as the board has squares, and the komi."""
    own_name: str | None = None
    """The name that its class gave a game that `make_game` has made, which people see; None: this is `name`."""
    made_as: tuple[str, Rules] | None = None
    """The name with which `make_game` made this game, and its rules then; None: made by calling the class."""
    presentation_class: type[Presentation] = Presentation
    """How the game is shown to people; the default shows the texts of actions and a board of X and O."""

    @classmethod
    def usual_parameters(cls, size: int | None) -> dict[str, float]:
        """The parameters that the class takes by name besides the size, and their usual values on a board of this size.

        Names are small letters, values int, float or bool. A value that is not the usual one is part of the game's
        name, and so recorded in files: go_7x7_komi=5.5. `size`: None for the first of `sizes`. By default there are
        none.
        """
        return {}

    @classmethod
    def read_parameters(cls, name: str, size: int | None, given: Mapping[str, object]) -> dict[str, float]:
        """Parameters that are numbers or texts of numbers as the numbers that the class is called with.

        Raises SettingError if `name`, the name of the game without its board, has no such parameter.
        """
        usual, found = cls.usual_parameters(size), dict[str, float]()
        for parameter, value in given.items():
            if parameter not in usual:
                known = f"the parameters {', '.join(usual)}" if usual else "no parameters besides its size"
                raise SettingError(f"{shortened(parameter)}={shortened(value)}: {name} has {known}")
            kind = type(usual[parameter])
            try:
                number = FLAGS[str(value).lower()] if kind is bool else kind(str(value))
            except (KeyError, ValueError):
                number = nan
            require(parameter, value, isfinite(number), KINDS_OF_PARAMETERS[kind])
            found[parameter] = kind(number)
        return found

    @classmethod
    def name_with(cls, name: str, size: int | None = None, given: Mapping[str, object] = MappingProxyType({})) -> str:
        """The name of the game with another board and parameters: go, 7 and {"komi": 5.5} give go_7x7_komi=5.5.

        `name`: without them. Raises SettingError if it has no such board or parameter.
        """
        if size is not None and size not in (*cls.sizes, *cls.other_sizes):
            boards = f"the sizes {', '.join(map(str, sorted({*cls.sizes, *cls.other_sizes})))}"
            raise SettingError(f"size={size}: {name} has {boards if cls.sizes else 'a single board'}")
        usual, values = cls.usual_parameters(size), cls.read_parameters(name, size, given)
        board = "" if size is None or size == cls.sizes[0] else f"_{size}x{size}"
        others = ((parameter, values.get(parameter, value)) for parameter, value in usual.items())
        # Without an exponent, which would not be read.
        texts = (f"_{one}={np.format_float_positional(float(n), trim='-')}" for one, n in others if n != usual[one])
        return f"{name}{board}{''.join(texts)}"

    def other_texts(self, action: int) -> Iterable[str]:
        """Further texts in lower case that name an action; none by default."""
        return ()

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
        """The symmetries of the game; only the identity by default."""
        return Symmetries(np.arange(self.num_distinct_actions)[None], np.arange(prod(self.observation_shape))[None])

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

    def read_transcript(self, text: str, start: State | None = None) -> list[int]:
        """Read the actions of a match, by default separated by spaces. The actions may be illegal.

        Args:
            start: the position (B = 1) in which the match begins; None: the start of the game.

        Raises IllegalActionError if part of the text does not name an action, or the text says that the match begins
        in another position.
        """
        return self._actions_of(without_move_numbers(text).split())

    def _actions_of(self, texts: Iterable[str]) -> list[int]:
        """The actions with these texts. Raises BrokenTranscriptError at the first that does not name one."""
        actions = list[int]()
        for text in texts:
            try:
                actions.append(self.string_to_action(text))
            except IllegalActionError as error:
                raise BrokenTranscriptError(str(error), actions) from error
        return actions

    def written_moves(self, text: str, start: State | None = None) -> list[tuple[int | None, int]]:
        """The actions that a transcript names, each with the player if the text says it; passes may be left out.

        `start` and errors: as `read_transcript`.
        """
        return [(None, action) for action in self.read_transcript(text, start)]

    def start_of_transcript(self, text: str) -> State | None:
        """The position (B = 1) in which a transcript says that the match begins; None: the usual one.

        Raises IllegalActionError if it cannot be read.
        """
        return None

    def read_fen(self, text: str) -> State:
        """The position (B = 1) that the tag FEN of a record describes.

        Raises IllegalActionError if it cannot be read, or there is no such notation for this game.
        """
        raise IllegalActionError(f"FEN {shortened(text)!r}: positions of {self.name} are not read in this notation")

    def fen_of(self, state: State) -> str:
        """A position (B = 1) as `read_fen` reads it. Raises IllegalActionError as that."""
        raise IllegalActionError(f"positions of {self.name} are not written in a notation (FEN)")

    # ------------------------------------------------------------------ the same for all games

    def string_to_action(self, text: str) -> int:
        """The action that `text` names: its `action_to_string`, `action_text` or one of its `other_texts`, in upper or
        lower case. Raises IllegalActionError if it does not name one."""
        action = self._action_of_text.get(text.strip().lower())
        if action is None:
            raise IllegalActionError(f"{shortened(text)!r} is not a move; write {self.presentation.action_help}")
        return action

    def is_action_text(self, text: str) -> bool:
        """Whether a text names an action, as for `string_to_action`."""
        return text.strip().lower() in self._action_of_text

    @cached_property
    def _action_of_text(self) -> dict[str, int]:
        actions = range(self.num_distinct_actions)
        further = {text: action for action in actions for text in self.other_texts(action)}
        taken = {self.action_text(action, player).lower(): action for player in (1, 0) for action in actions}
        return further | taken | {self.action_to_string(action).lower(): action for action in actions}

    def __reduce__(self) -> tuple[Any, ...]:
        """Only attributes that were changed since the game was made are pickled: rules may be closures, which cannot
        be."""
        left_out = {name for name in vars(self) if _is_cached(type(self), name)} | {"made_as", "_given"}
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        made = vars(self._make())
        for name in ("rules", "features"):  # wide ones are made again for each game
            if made.get(name) == kept.get(name):
                kept.pop(name, None)
        return self._make, (), {name: value for name, value in kept.items() if made.get(name) is not value}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def step(self, state: State, action: Tensor | int | str) -> State:
        """The state after `action`: int64[B], or the number or the text of an action in one match (B = 1).

        In a batch, terminated matches do not change, whatever their action.

        Raises IllegalActionError if an action is not legal in its match, there is not one for each match, or a single
        match is over.

        Examples:
            >>> game = selfplay.make_game("tictactoe")
            >>> game.step(game.step(game.init(), "1,1"), 0).position.tolist()
            [[16, 1]]
        """
        if not isinstance(action, Tensor):
            number = self.number_of(action)
            if not 0 <= number < self.num_distinct_actions:
                last = self.num_distinct_actions - 1
                raise IllegalActionError(f"action {number} does not exist; actions are 0 to {last}")
            if bool(state.terminated.all()):
                raise IllegalActionError("the match is over")
            action = torch.tensor([number])
        return super().step(state, action)

    def number_of(self, action: Any) -> int:
        """The number of an action that is given as a number, which may be out of range, or as its text.

        Raises IllegalActionError if it is neither.
        """
        if isinstance(action, str):
            return self.string_to_action(action)
        try:
            return index(action)
        except TypeError as error:
            raise IllegalActionError(
                f"action {shortened(repr(action))} is not a whole number; give the number of an action, or its text"
            ) from error

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

    def learned_as(self, name: str | None = None) -> str:
        """The name of this game, or of this game with other parameters, without its `counting_parameters`.

        Learned agents play all games with the same such name, because what they see and do there is the same.
        """
        name = self.name if name is None else name
        for parameter in self.counting_parameters:
            name = re.sub(rf"_{parameter}=[^_]*", "", name)
        return name

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of `usual_parameters` with their values in this game."""
        parts = parts_of_game_name(self.name)
        usual = self.usual_parameters(parts.size)
        return {name: type(value)(float(parts.parameters.get(name, value))) for name, value in usual.items()}

    @property
    def can_be_set_up(self) -> bool:
        """Whether positions can be set up."""
        return type(self).check_set_up is not Game.check_set_up

    @cached_property
    def presentation(self) -> Presentation:
        """The game's instance of `presentation_class`. What it has of the texts of the game from which this one is
        derived says so."""
        shown = self.presentation_class(self)
        if self.derived_from is not None and issubclass(self.derived_from, Game):
            shown.say_whose_texts(self.derived_from.presentation_class(self), self.derived_from.name)
        return shown

    def why_not(self, state: State, action: int) -> str | None:
        return self.presentation.why_not(state, action)

    def follow(self, actions: Iterable[int | str], start: State | None = None) -> State:
        """One match after these actions, numbers or texts, from `start` (B = 1) or the start of the game.

        Raises IllegalActionError if an action is illegal, or follows the end of the match.
        """
        state = self.init() if start is None else start
        for number, action in enumerate(actions):
            if bool(state.terminated):
                raise IllegalActionError(f"the match is over after {number} actions, but more are given")
            state = self.step(state, action)
        return state

    def state_after(self, actions: Iterable[str]) -> State:
        """One match after the actions with these texts, from the start. Raises as `follow`."""
        return self.follow(actions)

    def line_texts(self, actions: Iterable[int], start: State) -> list[str]:
        """The texts of actions that are taken one after the other from a position (B = 1)."""
        texts, state = [], start
        for action in actions:
            texts.append(self.action_text(action, int(state.current_player)))
            state = self.step(state, action)
        return texts

    def position_after(self, transcript: str) -> State:
        """The position (B = 1) after the match of a transcript. Raises IllegalActionError if it cannot be played."""
        start = self.start_of_transcript(transcript)
        return self.follow(self.read_transcript(transcript, start), start)


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), cached_property)
