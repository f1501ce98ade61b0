"""A person against a player, in text: every prompt and answer goes through the functions that are handed in."""

from collections.abc import Callable

import torch
from torch import Tensor

from selfplay.arena import MatchRecord
from selfplay.errors import IllegalActionError, StageError
from selfplay.games import Game, make_game
from selfplay.games.game import State
from selfplay.level_players import level_player, newest_level
from selfplay.matches import Results, standing
from selfplay.players.naming import make_player
from selfplay.players.player import Player
from selfplay.randomness import Activity, Draws, stream_key
from selfplay.settings import Settings

ANSWERS = {"": True, "y": True, "yes": True, "n": False, "no": False}
LEAVE = ("quit", "exit")
"""Words, because one letter can be an action."""


class _LeavingError(Exception):
    """The person has had enough."""


class Console:
    """Matches between a person and a player.

    Args:
        read: shows a prompt and returns the line that the person writes; EOFError or KeyboardInterrupt leaves.
        write: shows one or more lines.
        key: the stream of the opponent's random numbers, from `selfplay.randomness.stream_key`.
    """

    def __init__(
        self, game: Game, opponent: Player, read: Callable[[str], str], write: Callable[[str], None], key: int
    ) -> None:
        self.game, self.opponent, self.write, self.key = game, opponent, write, key
        self._read = read
        self.results = Results()

    def play(self) -> None:
        """Play matches until the person leaves."""
        self.write(f"{self.game.name} against {self.opponent.name}; quit leaves")
        try:
            match = 0
            while match == 0 or self._yes("Play again?"):
                self.play_match(self._yes("Do you want to go first?"), match)
                match += 1
        except (_LeavingError, EOFError, KeyboardInterrupt):
            self.write("")

    def play_match(self, person_first: bool, match: int = 0) -> float:
        """Play one match to its end; returns the person's return, -1, 0 or 1. `match` numbers the random numbers."""
        person = torch.tensor([0 if person_first else 1], dtype=torch.int8)
        state = self.game.init()
        states, actions = [state], list[Tensor]()
        while not bool(state.terminated):
            if bool(state.current_player == person):
                action, state = self._step_of_person(state)
            else:
                action = self._action_of_opponent(state, Draws(self.key, torch.tensor([match]), len(actions)))
                state = self.game.step(state, action)
            states.append(state)
            actions.append(action)
        result = float(state.returns_to(person))
        self.write(self.game.to_string(state))
        self.write({1.0: "You win.", -1.0: "You lose.", 0.0: "A draw."}[result])
        # The opponent is the first of the two players of the record.
        record = MatchRecord(torch.tensor([match]), 1 - person, tuple(states), tuple(actions))
        if self.opponent.learns:
            self.opponent.after_match(record, (int(1 - person),))
        self.results = self.results.with_record(record)
        self.write(standing(self.game, self.results, self.opponent))
        return result

    def _step_of_person(self, state: State) -> tuple[Tensor, State]:
        self.write(self.game.to_string(state))
        while True:
            text = self._ask(f"Your action ({self.game.action_help}): ")
            try:
                action = torch.tensor([self.game.string_to_action(text)])
                return action, self.game.step(state, action)
            except IllegalActionError as error:
                self.write(str(error))

    def _action_of_opponent(self, state: State, draws: Draws) -> Tensor:
        action = self.opponent.act(state, draws)
        name = self.game.action_to_string(int(action))
        explores, values = self.opponent.explores(draws), self.opponent.action_values(state)
        how = " at random" if explores is not None and bool(explores) else ""
        if values is None:
            self.write(f"It plays {name}{how}.")
        else:
            self.write(f"What {self.opponent.name} expects of each action:")
            self.write(self.game.to_string(state, 0, values[0].numpy()))
            self.write(f"It plays {name}{how}, value {float(values[0, action]):+.2f}.")
        return action

    def _yes(self, question: str) -> bool:
        while True:
            answer = self._ask(f"{question} [Y/n] ").lower()
            if answer in ANSWERS:
                return ANSWERS[answer]
            self.write("Please answer y or n.")

    def _ask(self, prompt: str) -> str:
        text = self._read(prompt).strip()
        if text.lower() in LEAVE:
            raise _LeavingError
        return text


def play_at_console(settings: Settings, read: Callable[[str], str], write: Callable[[str], None]) -> None:
    """A person against `settings.opponent`, or against level `settings.level` of the run; None is the newest.

    Raises:
        SettingError: the opponent's name is unknown.
        StageError: the run has no such level, or none at all and neither an opponent nor a level is set.
        InvalidFileError: the opponent's file is broken or belongs to another game.
    """
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    level = newest_level(settings) if settings.level is None else settings.level
    if settings.opponent is not None:
        opponent = make_player(settings.opponent, game, settings.run_dir)
    elif settings.level is None and level == 0:
        raise StageError(f"{settings.run_dir} has no trained level; level=0 is the random player")
    else:
        opponent = level_player(settings, game, level)
    key = stream_key(settings.seed, level, Activity.VERSUS_PERSON)
    Console(game, opponent, read, write, key).play()
