"""Scripted dialogues with the console."""

from collections.abc import Iterable
from typing import Any

from selfplay.games import Game, make_game
from selfplay.players.player import Player
from selfplay.playing.console import Console
from selfplay.playing.console_values import COMPILING, THINKING
from selfplay.playing.session import Session
from selfplay.settings.playing import DisplaySettings

GAME = make_game("tictactoe")
LARGE = make_game("othello")
PROMPT = f"Your action ({GAME.presentation.action_help}): "
"""The first prompt of a session; later ones are SHORT."""
SHORT = "Your action: "


def dialogue(
    answers: Iterable[str], *players: Player | None, game: Game = GAME, swap: bool = False, **shown: Any
) -> tuple[list[str], list[str]]:
    """The lines that the console writes, and the prompts that it shows, when the person answers so and then leaves.

    The notices that a slow computer is still working are left out.

    `players`: the two; of one alone the other is the person, who is asked who moves first.
    """
    written: list[str] = []
    prompts: list[str] = []
    remaining = iter(answers)

    def read(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(remaining)
        except StopIteration:
            raise EOFError from None

    asks = len(players) == 1
    session = Session(game, (None, players[0]) if asks else (players[0], players[1]), 0)
    settings = DisplaySettings(".", **{"coordinates": False, **shown})
    Console(session, read, written.append, settings, asks_who_is_first=asks, swap=swap).play()
    return [line for line in written if line not in (THINKING, COMPILING)], prompts
