"""`level:L`: an agent of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.level_offers import level_offers
from selfplay.players.offers import Offering
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.levels import load_level
    from selfplay.players.random import RandomPlayer

    level = whole_number(name.text, name.argument, "the level")
    if level == 0:
        return RandomPlayer(game)
    options = name.options
    folder = options["run_dir"] or run_dir
    return load_level(folder, level, game, depth=options["depth"], temperature=options["temperature"])


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.players.levels import agent_of

    level = whole_number(name.text, name.argument, "the level")
    return [agent_of(name.options["run_dir"] or run_dir, level)] if level else []


KIND = PlayerKind(
    "level:L",
    "level L of the run in run_dir",
    _make,
    (Option("depth", int, 1), Option("temperature", float, 0.0), Option("run_dir")),
    files=_files,
    offering=Offering(level_offers, 1),
)
