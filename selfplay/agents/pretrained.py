"""The agents that come with the program: for each of some games, a run folder with its last level.

Of the run that made it there may also be tables, without the agents of earlier levels.
`python benchmarks/pretrained.py GAME` trains such an agent again and compares the bytes.
"""

from collections.abc import Collection
from functools import cache
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import read_metadata
from selfplay.architectures.capabilities import has_compiled_values
from selfplay.errors import SettingError
from selfplay.games import GAMES, game_names, make_game
from selfplay.installation import PACKAGE_FOLDER
from selfplay.names_of_games import parts_of_game_name
from selfplay.search.pattern_evaluation import PatternEvaluation, PatternTables

PRETRAINED = "pretrained"
"""Names the agent of a game that comes with the program: a player, and an evaluation of searches."""

PRETRAINED_FOLDER = PACKAGE_FOLDER / "pretrained"
"""Holds a folder for each game, named like it."""

SEARCH_DEPTHS = {
    "breakthrough": 8,
    "breakthrough_6x6": 6,
    "breakthrough_8x8": 5,
    "draughts": 11,
    "nine_mens_morris": 8,
    "othello_6x6": 10,
}
"""Plies that agents look ahead in at most about half a second, on small boards and where moves are forced or change
little."""

OTHER_SIZES: dict[str, dict[str, Collection[int]]] = {
    "go": {"go": (5, 6, 8, 10), "go_13x13": (11, 12, *range(14, 20))},
    "gomoku": {"gomoku_other_sizes": (8, *range(10, 21))},
    "hex": {"hex": range(8, 14)},
}
"""By game and folder of an agent for boards of all sizes, the sizes that no agent was trained on, and that it plays at
least as well as the other agents, and better than a search by random matches."""


@cache
def pretrained_agents() -> dict[str, Path]:
    """The files of the agents that come with the program, by game or the folder in OTHER_SIZES."""
    return {path.parents[1].name: path for path in sorted(PRETRAINED_FOLDER.glob("*/level_*/agent.safetensors"))}


@cache
def find_pretrained(game: str) -> Path | None:
    """The file of the agent that plays the game with this name; None if none comes with the program.

    It is the agent of this board; otherwise, for the sizes in OTHER_SIZES, one for boards of all sizes.
    """
    agents = pretrained_agents()
    parts = parts_of_game_name(game)
    if game in agents or parts.parameters or parts.base not in OTHER_SIZES:
        return agents.get(game)
    size = parts.size or GAMES[parts.base].sizes[0]
    return next((agents[folder] for folder, sizes in OTHER_SIZES[parts.base].items() if size in sizes), None)


def pretrained_agent(game: str) -> Path:
    """The same, which must exist. Raises SettingError if none comes with the program."""
    if (found := find_pretrained(game)) is None:
        known = ", ".join(sorted(filter(find_pretrained, game_names()))) or "none"
        raise SettingError(f"no pretrained agent for game={game}; games with one: {known}")
    return found


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
