"""`level:L`: an agent of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.level_offers import level_offers
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    if _level(name) == 0:
        return RandomPlayer(game)
    return level_agent(name, game, run_dir).player(name.options["depth"], name.options["temperature"])


def level_agent(name: PlayerName, game: "Game", run_dir: Path) -> "Agent":
    """The level whose number is the argument of the name. Raises SettingError if it is not a whole number."""
    from selfplay.players.agent import Agent

    return Agent.of_level(name.options["run_dir"] or run_dir, _level(name), game)


def level_files(name: PlayerName, run_dir: Path) -> list[Path]:
    """The file of this level. Raises SettingError as `level_agent`, and StageError if the run does not have it."""
    from selfplay.runs.run_folder import RunFolder

    level = _level(name)
    return [RunFolder(Path(name.options["run_dir"] or run_dir)).existing_agent(level)] if level else []


def _level(name: PlayerName) -> int:
    return whole_number(name.text, name.argument, "the level")


KIND = PlayerKind(
    "level:L",
    "level L of the run in run_dir",
    _make,
    (Option("depth", int, 1), Option("temperature", float, 0.0), Option("run_dir")),
    files=level_files,
    agent=level_agent,
    offers=level_offers,
    place=1,
)
