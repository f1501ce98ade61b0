"""The moves of a game as texts, matches that are written with them, and how both are shown."""

import re
from collections.abc import Iterable
from functools import cached_property
from operator import index
from typing import Any

import torch
from torch import Tensor

from selfplay.errors import BrokenTranscriptError, IllegalActionError, shortened
from selfplay.games.derived import Derivable
from selfplay.games.presentation import Presentation
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

# Takes linear time: it is tried once for each word.
MOVE_NUMBER = re.compile(r"(?<!\S)\d+\.+\s*")


def without_move_numbers(text: str) -> str:
    """A transcript without the numbers in front of its moves: 1. f5 d6 2. c3."""
    return MOVE_NUMBER.sub("", text)


class MoveTexts(Derivable, BatchStepping):
    """The part of a game that reads and writes moves."""

    presentation_class: type[Presentation] = Presentation
    """How the game is shown to people; the default shows the texts of actions and a board of X and O."""

    def other_texts(self, action: int) -> Iterable[str]:
        """Further texts in lower case that name an action; none by default."""
        return ()

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
        """One match after the actions with these texts, from the start. Raises as `follow`.

        A single text has actions separated by spaces, single characters, or a transcript: "b3n a1s", "444", "f5d6".
        """
        if isinstance(actions, str):
            words = actions.split()
            if not all(map(self.is_action_text, words)):
                return self.follow(actions) if all(map(self.is_action_text, actions)) else self.position_after(actions)
            actions = words
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

    @cached_property
    def presentation(self) -> Presentation:
        """The game's instance of `presentation_class`. What it has of the texts of the game from which this one is
        derived says so."""
        shown = self.presentation_class(self)
        if self.derived_from is not None and issubclass(self.derived_from, MoveTexts):
            shown.say_whose_texts(self.derived_from.presentation_class(self), self.derived_from.name)
        return shown

    def why_not(self, state: State, action: int) -> str | None:
        return self.presentation.why_not(state, action)
