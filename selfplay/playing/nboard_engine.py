"""A player as an engine of the NBoard protocol for Othello, which answers a board such as NBoard."""

from collections.abc import Callable
from time import monotonic

import numpy as np

from selfplay.engines.commands import SIZE_LIMIT, CommandError, whole_numbers
from selfplay.engines.nboard import CHOICE, GGF, PONG, move_text, require_othello
from selfplay.errors import SelfPlayError
from selfplay.games import Game, make_game
from selfplay.players.player import Player
from selfplay.playing.line_engine import LineEngine, key_of, maker_of
from selfplay.playing.session import Session
from selfplay.records import FORMATS, require_whole
from selfplay.settings.playing import NBoardSettings


class NBoardEngine(LineEngine):
    """A player that moves and gives hints at the command of a board, which plays the moves of both colours.

    Args:
        make: makes the player for a game, again when the board has another size.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.

    Raises SettingError if the game is not Othello.
    """

    def __init__(self, game: Game, make: Callable[[Game], Player], key: int) -> None:
        require_othello(game)
        self._make, self._key = make, key
        self._begin(game, make(game))
        self._commands: dict[str, Callable[[str], list[str]]] = {
            "nboard": lambda _: [f"set myname selfplay {self.player.name}"],
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": lambda number: [f"{PONG} {number}"],
            "learn": lambda _: ["learned"],
            "analyze": self._analyze,
            "quit": self._quit,
        }

    def answer(self, line: str) -> str:
        name, _, argument = line.strip().partition(" ")
        # The protocol asks engines to ignore commands that they do not know.
        if name not in self._commands:
            return ""
        try:
            if len(line) > SIZE_LIMIT:
                raise CommandError("line too long")
            lines = self._commands[name](argument.strip())
        except (CommandError, SelfPlayError) as error:
            lines = [f"status error: {' '.join(str(error).split())}"]
        return "".join(f"{text}\n" for text in lines)

    # ------------------------------------------------------------------ the match

    def _begin(self, game: Game, player: Player) -> None:
        self.game, self.player = game, player
        self.session = Session(game, (None, None), self._key)

    def _quit(self, _: str) -> list[str]:
        self.has_quit = True
        return []

    def _set(self, text: str) -> list[str]:
        """Only the match matters: the name of the player says how deep it looks."""
        name, _, value = text.partition(" ")
        if name == "game":
            (record,) = FORMATS[GGF].read(value, None, None)
            require_whole(record)
            if record.game.rules != self.game.rules:
                self._begin(record.game, self._make(record.game))
            self.session.resume(record.actions, start=record.start)
        return []

    def _move(self, text: str) -> list[str]:
        action = self.game.string_to_action(text.partition("/")[0])
        if self.session.can_only_pass and action == self.game.pass_action:
            self.session.advance()
        else:
            self.session.play(action)
        return []

    # ------------------------------------------------------------------ what the player thinks

    def _go(self, _: str) -> list[str]:
        if self.session.is_over:
            raise CommandError("the match is over")
        start = monotonic()
        action = self.session.choice_of(self.player)
        return [f"{CHOICE} {move_text(self.game, action)}//{monotonic() - start:.2f}"]

    def _hint(self, number: str) -> list[str]:
        """The best moves with their values, in discs if the player counts them, the best first."""
        (wanted,) = whole_numbers(number or "1")
        estimate = self.session.estimate(adviser=self.player)
        if estimate is None:
            return [f"status {'the match is over' if self.session.is_over else 'this player does not value moves'}"]
        values = estimate.values
        best_first = [action for action in np.argsort(-values, kind="stable") if np.isfinite(values[action])]
        return [
            f"search {move_text(self.game, int(action))} {values[action]:.2f} 0 1 {self.player.name}"
            for action in best_first[:wanted]
        ]

    def _analyze(self, _: str) -> list[str]:
        """The value of each position of the match to black."""
        lines = []
        for ply in range(len(self.session.plies) + 1):
            state, estimate = self.session.state_before(ply), self.session.estimate(ply, self.player)
            if bool(state.terminated):
                lines.append(f"analysis {ply} {float(self.game.score(state)):.2f}")
            elif estimate is not None:
                value = float(np.nanmax(estimate.values))
                lines.append(f"analysis {ply} {value if int(state.current_player) == 0 else 0.0 - value:.2f}")
        return lines


def make_engine(settings: NBoardSettings) -> NBoardEngine:
    """The engine that `settings` describe. Raises as `make_player` and `NBoardEngine`."""
    return NBoardEngine(make_game(settings.game.name), maker_of(settings), key_of(settings))
