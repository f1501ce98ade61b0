"""The commands that a person can write at the console instead of an action or an answer."""

import textwrap
from collections.abc import Callable
from functools import partial

from selfplay.errors import IllegalActionError, InvalidFileError, NotNowError, SettingError, StageError
from selfplay.playing.console_text import ConsoleText
from selfplay.playing.console_values import PERFECT, VALUES, ConsoleValues, draw_graph
from selfplay.playing.saved_matches import about_record, example_file, load_match, save_match
from selfplay.playing.session import Session

UNDO, LOAD = "undo", "load"
COMMANDS = {
    UNDO: "take back your last action and the reply to it",
    "hint": "show the best action that is known, and what follows",
    VALUES: "show or hide the value that a player gives to each action (also: values on, values off)",
    PERFECT: "show or hide the outcome of each action with perfect play (also: perfect on, perfect off)",
    LOAD: "go on with the match in a file: load {file}",
    "save": "write the match to a file: save {file}",
    "graph": "draw the known boards ahead, if a player keeps an experience graph",
    "help": "show this help (also: ?)",
    "quit": "leave the match (also: exit, Ctrl-C, Ctrl-D)",
}
"""What each command does; {file}: a file of the game. They are words, because a single letter can be an action."""
ALIASES = {"exit": "quit", "?": "help"}
"""Other words for commands."""


class ConsoleCommands:
    """Runs the commands that people write.

    Args:
        write: shows one or more lines.
        values: shows and hides the values of actions.
        text: how boards and actions are written; its settings say what the command graph draws.
    """

    def __init__(
        self, session: Session, write: Callable[[str], None], values: ConsoleValues, text: ConsoleText
    ) -> None:
        self.session, self.write, self.text = session, write, text
        self._handlers: dict[str, Callable[[str], None]] = {
            UNDO: self._undo,
            "hint": lambda _: values.show_hint(),
            VALUES: partial(values.show_or_hide, VALUES),
            PERFECT: partial(values.show_or_hide, PERFECT),
            LOAD: self._load,
            "save": self._save,
            "graph": lambda _: write(draw_graph(session, text.settings.picture)),
            "help": self._help,
            "quit": self._quit,
        }

    def run(self, word: str, argument: str) -> bool:
        """Run a command of COMMANDS. If it is not possible now, write the reason and return False.

        Raises EOFError if the person leaves.
        """
        try:
            self._handlers[word](argument)
        except (IllegalActionError, InvalidFileError, NotNowError, SettingError, StageError) as error:
            self.write(str(error))
            return False
        return True

    def _quit(self, _: str) -> None:
        raise EOFError

    def _undo(self, _: str) -> None:
        match, taken = self.session.match, self.session.undo()
        states = match.states[len(self.session.plies) :]
        texts = (self.text.action(ply.action, state) for ply, state in zip(taken, states, strict=False))
        self.write(f"Taken back: {', '.join(texts)}.")

    def _load(self, name: str) -> None:
        record = load_match(self.session, name)
        self.write(f"Loaded: {len(self.session.plies)} moves.")
        for line in about_record(record):
            self.write(line)

    def _save(self, name: str) -> None:
        save_match(self.session, name)
        self.write(f"Written to {name}.")

    def _help(self, _: str) -> None:
        self.write(f"An action: {self.session.game.presentation.action_help}")
        if squares := self.text.squares_of_actions(self.session.match.state):
            self.write(f"Legal now: {squares}")
        width, indent, file = self.text.columns or 80, " " * 9, example_file(self.session.game)
        lines = (f"{name:8} {meaning.format(file=file)}" for name, meaning in COMMANDS.items())
        self.write("\n".join(textwrap.fill(line, width, subsequent_indent=indent) for line in lines))
