"""The agents that come with the program: for each of some games, a run folder with its last level.

Of the run that made it there may also be tables, without the agents of earlier levels.
`python benchmarks/pretrained.py GAME` trains such an agent again and compares the bytes.
"""

from functools import cache
from pathlib import Path

from selfplay.architectures.capabilities import has_compiled_values
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.installation import PACKAGE_FOLDER
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import read_metadata
from selfplay.search.pattern_evaluation import PatternEvaluation, PatternTables

PRETRAINED = "pretrained"
"""Names the agent of a game that comes with the program: a player, and an evaluation of searches."""

PRETRAINED_FOLDER = PACKAGE_FOLDER / "pretrained"
"""Holds a folder for each game, named like it."""

SEARCH_DEPTHS = {"breakthrough_6x6": 6, "breakthrough_8x8": 5, "draughts": 11, "nine_mens_morris": 8}
"""Plies that agents look ahead in at most about half a second, in games in which moves are forced or change little."""


@cache
def pretrained_agents() -> dict[str, Path]:
    """The files of the agents that come with the program, by game."""
    return {path.parents[1].name: path for path in sorted(PRETRAINED_FOLDER.glob("*/level_*/agent.safetensors"))}


def pretrained_agent(game: str) -> Path:
    """The file of the agent of the game with this name. Raises SettingError if none comes with the program."""
    agents = pretrained_agents()
    if game not in agents:
        raise SettingError(f"no pretrained agent for game={game}; games with one: {', '.join(agents) or 'none'}")
    return agents[game]


def search_depth(game: str, usual: int) -> int:
    """The plies that the pretrained agent of this game looks ahead inside a search; `usual`: in most games."""
    return SEARCH_DEPTHS.get(game, usual)


@cache
def is_for_compiled_search(game: str) -> bool:
    """Whether compiled searches can compute the values of the pretrained agent of this game, as those of tables.

    Raises SettingError if none comes with the program.
    """
    return has_compiled_values(read_metadata(pretrained_agent(game))["architecture"]["name"])


def pretrained_othello_tables() -> PatternTables | None:
    """The tables of the agent for Othello that comes with the program; None if its network has no tables."""
    evaluation = Agent.load(pretrained_agent("othello"), make_game("othello")).evaluation()
    return evaluation.tables if isinstance(evaluation, PatternEvaluation) else None
