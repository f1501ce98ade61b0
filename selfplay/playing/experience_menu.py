"""Matches with the player of the experience graph in a terminal, in the mode that the person chooses from a menu."""

from collections.abc import Callable
from dataclasses import asdict

from selfplay.checks import fields_of
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.players.experience import load_experience_player
from selfplay.players.player import RandomPlayer
from selfplay.playing.console import Console
from selfplay.playing.session import Players, Session
from selfplay.settings.playing import ExperiencePlaySettings
from selfplay.settings.run import Run

MODES = {1: "you against it", 2: "the random player against it", 3: "it against itself"}
LEAVING = ("quit", "exit")
NUMBERS = "1"
"""Squares are written as numbers until the person types another notation."""


def play_with_experience(
    run: Run[ExperiencePlaySettings],
    read: Callable[[str], str],
    write: Callable[[str], None],
    *,
    colour: bool = False,
    columns: int | None = None,
) -> None:
    """Play in the mode of the settings, or in those that the person chooses from a menu, until the person leaves it.

    After the matches of a mode, and when the person leaves them, the menu is shown again.

    Args:
        read, write, colour, columns: as for `selfplay.playing.console.Console`.

    Raises as `selfplay.players.experience.load_experience_player`.
    """
    settings, game = run.settings, run.game
    rule = settings.experience.rule
    with fields_of("experience", *asdict(rule)):
        player = load_experience_player(settings.experience.path, game, rule)
    players: dict[int, Players] = {1: (None, player), 2: (RandomPlayer(game), player), 3: (player, player)}
    key = stream_key(settings.seed, 0, Activity.VERSUS_PERSON)

    def play(mode: int, leaving: str) -> None:
        session = Session(game, players[mode], key)
        console = Console(
            session,
            read,
            write,
            settings,
            colour=colour,
            columns=columns,
            example=NUMBERS,
            for_learning=True,
            swap=mode == 2,
            leaving=leaving,
        )
        if mode == 1:
            console.play()
        else:
            console.watch(settings.matches)

    try:
        if settings.mode is not None:
            play(settings.mode, "leaves")
            return
        while (chosen := _choice(player.status().boards, read, write)) is not None:
            play(chosen, "returns to the menu")
    except (EOFError, KeyboardInterrupt):
        write("")


def _choice(boards: int, read: Callable[[str], str], write: Callable[[str], None]) -> int | None:
    """The mode that the person chooses; None to leave."""
    write(f"The experience graph knows {boards:,} boards.")
    write("\n".join(f"  {mode}  {meaning}" for mode, meaning in MODES.items()))
    while (text := read("Choose 1, 2 or 3 (quit leaves): ").strip().lower()) not in LEAVING:
        if text in map(str, MODES):
            return int(text)
        write("Please write 1, 2, 3 or quit.")
    return None
