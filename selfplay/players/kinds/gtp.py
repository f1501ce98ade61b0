"""`gtp:COMMAND`: a third-party engine over the Go Text Protocol."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.gtp import GtpPlayer

    options = {option.name: name.options[option.name] for option in KIND.options}
    return GtpPlayer(game, name.argument, **options)


KIND = PlayerKind(
    "gtp:COMMAND",
    "a program that speaks the Go Text Protocol, started by this command",
    _make,
    (Option("time_limit", float, 60.0), Option("rows", str, "top"), Option("passes", str, "skip")),
    is_command=True,
)
