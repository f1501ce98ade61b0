"""The levels of a run as agents and players."""

import logging
from functools import cache
from numbers import Real
from pathlib import Path
from typing import NamedTuple

from selfplay.agents.agent import Agent
from selfplay.checks import folder_of, require, whole_number
from selfplay.errors import InvalidFileError
from selfplay.files import read_once
from selfplay.games import Game, make_game
from selfplay.players.player import Player, RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.tables import COUNT, SHARE, Columns, read_rows

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
    agent = load_agent(path := run.existing_agent(level), game, f"level {level}")
    if (found := agent.checkpoint.metadata["level"]) != level:
        raise InvalidFileError(path, f"is level {found}, not {level}; learn level {level} again, or delete its folder")
    return agent


class Rated(NamedTuple):
    """A level that has played tree search with random matches, at equal work for each move."""

    level: int
    simulations: int
    """Its simulations for each move."""
    rollouts: int
    """Random matches of the other search for each move."""
    score: float
    """Its points per match, from 0 to 1."""
    rollout_share: float = 0.0
    """How much of the values were those of random matches."""
    mixed_rollouts: int = 1
    """Random matches for each position, if there were any."""
    score_low: float | None = None
    score_high: float | None = None
    """The 95 % interval of the score; None in tables that do not have it."""
    work: int | None = None
    """The work of the searches in the matches from which it and earlier levels have learned, in multiplications."""

    def search(self, simulations: int | None = None) -> str:
        """The name of the player that searches as in the rating, with this number of simulations or the usual one."""
        options = [] if simulations is None else [f"simulations={simulations}"]
        if self.rollout_share:
            options += [f"rollout_share={self.rollout_share:g}", f"rollouts={self.mixed_rollouts}"]
        return f"mcts:level:{self.level}{'?' if options else ''}{'&'.join(options)}"


RATED_COLUMNS: Columns = {
    **{"level": COUNT, "simulations": COUNT, "rollouts": COUNT, "score": SHARE},
    **{"rollout_share": SHARE, "mixed_rollouts": COUNT, "score_low": SHARE, "score_high": SHARE, "work": COUNT},
}
"""Those of versus_rollouts.csv that say how good a level is."""
REQUIRED = ("level", "simulations", "rollouts", "score")
MOST_TABLES = 1000
"""The largest number of tables that are kept."""
RATED = "a table of matches against random matches; delete it and learn again"


def rated_levels(run: RunFolder) -> list[Rated]:
    """The levels of a run with such a rating, in order. Raises InvalidFileError if a table is broken."""
    levels = run.levels_with(run.versus_rollouts(0).name)
    return [rated for level in levels for rated in _rated(run.versus_rollouts(level))]


@read_once(MOST_TABLES)
def _rated(path: Path) -> list[Rated]:
    rows = read_rows(path, RATED_COLUMNS, RATED)
    if any(row.get(name) is None for row in rows for name in REQUIRED):
        raise InvalidFileError(path, f"it is not {RATED}")
    return [Rated(**row) for row in rows]


def is_rated_unmixed(run: RunFolder, level: int) -> bool:
    """Whether the rating of a level has found that its network alone is better than mixed with random matches."""
    return any(rated.level == level and rated.rollout_share == 0 for rated in rated_levels(run))


def best_level(run: RunFolder) -> Rated | None:
    """The newest level that is better than random matches; None if there is none. Raises as `rated_levels`."""
    return max((rated for rated in rated_levels(run) if rated.score > 1 / 2), default=None)


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
