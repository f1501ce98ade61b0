"""`level:L`: an agent of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.level_offers import level_offers
from selfplay.players.offers import Offering
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.runs.learned_agent import LearnedAgent


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.levels import load_level
    from selfplay.players.random import RandomPlayer

    folder, level = level_agent(name, game, run_dir)
    if level == 0:
        return RandomPlayer(game)
    options = name.options
    return load_level(folder, level, game, depth=options["depth"], temperature=options["temperature"])


def level_agent(name: PlayerName, game: "Game | None", run_dir: Path) -> "LearnedAgent":
    """The level whose number is the argument of the name. Raises SettingError if it is not a whole number."""
    from selfplay.runs.learned_agent import LearnedAgent

    return LearnedAgent(Path(name.options["run_dir"] or run_dir), whole_number(name.text, name.argument, "the level"))


def level_files(name: PlayerName, run_dir: Path) -> list[Path]:
    """The file of this level. Raises SettingError as `level_agent`, and StageError if the run does not have it."""
    from selfplay.players.levels import agent_of

    folder, level = level_agent(name, None, run_dir)
    return [agent_of(folder, level)] if level else []


KIND = PlayerKind(
    "level:L",
    "level L of the run in run_dir",
    _make,
    (Option("depth", int, 1), Option("temperature", float, 0.0), Option("run_dir")),
    files=level_files,
    agent=level_agent,
    offering=Offering(level_offers, 1),
)
