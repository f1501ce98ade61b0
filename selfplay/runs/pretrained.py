"""The agents that come with the program: for each of some games, a run folder with its last level.

Of the run that made it there may also be tables, without the agents of earlier levels.
`python benchmarks/pretrained.py GAME` trains such an agent again and compares the bytes.
"""

from pathlib import Path

from selfplay.errors import SettingError
from selfplay.installation import PACKAGE_FOLDER
from selfplay.runs.run_folder import RunFolder

PRETRAINED_FOLDER = PACKAGE_FOLDER / "pretrained"
"""Holds a folder for each game, named like it."""


def pretrained_agents() -> dict[str, Path]:
    """The files of the agents that come with the program, by game."""
    runs = map(RunFolder, sorted(PRETRAINED_FOLDER.glob("*")))
    return {run.path.name: run.agent(run.newest_level()) for run in runs if run.newest_level()}


def pretrained_agent(game: str) -> Path:
    """The file of the agent of the game with this name. Raises SettingError if none comes with the program."""
    agents = pretrained_agents()
    if game not in agents:
        raise SettingError(f"no pretrained agent for game={game}; games with one: {', '.join(agents) or 'none'}")
    return agents[game]
