"""The agents that come with the program: for each of some games, a run folder with its last level.

`python benchmarks/pretrained.py GAME` trains such an agent again and compares the bytes.
"""

from selfplay.errors import SettingError
from selfplay.runs.learned_agent import LearnedAgent
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.folders import PACKAGE_FOLDER

PRETRAINED_FOLDER = PACKAGE_FOLDER / "pretrained"
"""Holds a folder for each game, named like it."""


def pretrained_agents() -> dict[str, LearnedAgent]:
    """The agents that come with the program, by game."""
    return {
        folder.name: LearnedAgent(folder, levels[-1])
        for folder in sorted(PRETRAINED_FOLDER.glob("*"))
        if (levels := RunFolder(folder).trained_levels())
    }


def pretrained_agent(game: str) -> LearnedAgent:
    """The agent of the game with this name. Raises SettingError if none comes with the program."""
    agents = pretrained_agents()
    if game not in agents:
        raise SettingError(f"no pretrained agent for game={game}; games with one: {', '.join(agents) or 'none'}")
    return agents[game]
