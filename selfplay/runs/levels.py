"""The levels of a run as agents and players."""

import logging
from functools import cache
from numbers import Real
from pathlib import Path

from selfplay.checks import folder_of, require, whole_number
from selfplay.games import Game, make_game
from selfplay.players.agent import Agent
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder

log = logging.getLogger(__name__)


def load_agent(path: Path, game: Game | None = None, name: str | None = None) -> Agent:
    """The agent in a file, as `Agent.load`. Also raises InvalidFileError if the manifest beside it records another.

    If the code of one's own with which it was learned, such as the rules of the game, has changed since, a warning says
    so: it plays by the new rules what it has learned by the old ones.
    """
    check_against_manifest(path)
    agent, manifest = Agent.load(path, game, name), Manifest(path.parent)
    changes = {manifest.changed_code(stage, section["settings"]) for stage, section in manifest.sections.items()}
    for change in sorted(changes - {""}):
        _warn(f"{path}: {change}, since this level was learned; learn it again to play by what is there now")
    return agent


@cache
def _warn(text: str) -> None:
    """Log a warning once in a process: a level is loaded for each player and each shard."""
    log.warning("%s", text)


def agent_of_level(run_dir: str | Path, level: int | None = None, game: Game | None = None) -> Agent:
    """The agent of a level of a run; None: of the newest.

    Raises SettingError for an argument of another type, StageError if the run lacks the level, and as `load_agent`.
    """
    run = RunFolder(folder_of("run_dir", run_dir))
    level = max(run.newest_level(), 1) if level is None else whole_number("level", level)
    return load_agent(run.existing_agent(level), game, f"level {level}")


def load_level(
    run_dir: str | Path,
    level: int | None = None,
    game: Game | str | None = None,
    *,
    depth: int = 1,
    temperature: float = 0.0,
) -> ValueNetPlayer | SearchPlayer:
    """The agent of a level of a run, as a player: see `agent_of_level` and `Agent.player`.

    If compiled searches can compute the values of its network, NegaScout searches to any depth; otherwise the whole
    tree is searched, up to 3 plies.

    Args:
        level: the number of the level; None: the newest.
        game: the game that the agent must play, or its name; None: the game named in its file.

    Raises:
        SettingError: an argument is of another type, or the depth or the temperature is out of range.
        StageError: the run does not have this level; the message says which levels it has.
        InvalidFileError: the file of the level is broken or belongs to another game.

    Examples:
        >>> agent = selfplay.load_level("outputs/tictactoe", level=3)
        >>> agent
        <ValueNetPlayer level 3>
        >>> agent.action_values(agent.game.init()).shape
        torch.Size([1, 9])
    """
    required, depth = None if game is None else make_game(game), whole_number("depth", depth)
    require("temperature", temperature, isinstance(temperature, Real), "a number")
    return agent_of_level(run_dir, level, required).player(depth, temperature)


def level_player(run_dir: str | Path, level: int, game: Game, depth: int = 1, temperature: float = 0.0) -> Player:
    """Level `level` of the run as a player without exploration; level 0 is the random player.

    Raises as `load_level`.
    """
    return RandomPlayer(game) if level == 0 else load_level(run_dir, level, game, depth=depth, temperature=temperature)
