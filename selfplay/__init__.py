"""Agents that learn two-player board games by playing against themselves, and a proof of how well they play.

    import selfplay

    agent = selfplay.load_level("outputs/tictactoe")
    state = agent.game.state_after(["1,1", "0,1"])
    print(agent.action_values(state))

Names are imported on first use, so that code that needs no network does not wait for torch to be imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.errors import SelfPlayError
    from selfplay.games import Game, State, make_game
    from selfplay.games.board import Board
    from selfplay.games.conformance import check_game
    from selfplay.games.position_graph import enumerate_positions
    from selfplay.games.state import MatchRecord
    from selfplay.grading.comparison import compare_levels
    from selfplay.grading.grade import Grade
    from selfplay.grading.proof import Grader
    from selfplay.learners.experience.store import ExperienceStore
    from selfplay.matches.arena import play_matches
    from selfplay.players.agent import load_level
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
    from selfplay.players.experience import ExperiencePlayer, load_experience_player
    from selfplay.players.perfect import PerfectPlayer
    from selfplay.players.player import Player
    from selfplay.players.player_names import make_player
    from selfplay.players.random import RandomPlayer
    from selfplay.players.tabular import TabularPlayer
    from selfplay.players.value_net import ValueNetPlayer
    from selfplay.playing.session import Session
    from selfplay.runs.run_settings import settings_of_run
    from selfplay.search.backward_induction import perfect_values
    from selfplay.settings.run import Settings, compose_settings
    from selfplay.stages.generate import generate_level
    from selfplay.stages.loop import LearnedRun, learn_levels
    from selfplay.stages.train import train_level

_HOMES = {
    "MatchRecord": "games.state",
    "play_matches": "matches.arena",
    "compare_levels": "grading.comparison",
    "SelfPlayError": "errors",
    "ExperienceStore": "learners.experience.store",
    "Board": "games.board",
    "Game": "games",
    "State": "games",
    "make_game": "games",
    "check_game": "games.conformance",
    "enumerate_positions": "games.position_graph",
    "Grade": "grading.grade",
    "Grader": "grading.proof",
    "generate_level": "stages.generate",
    "LearnedRun": "stages.loop",
    "learn_levels": "stages.loop",
    "load_level": "players.agent",
    "train_level": "stages.train",
    "EpsilonGreedyPlayer": "players.epsilon_greedy",
    "ExperiencePlayer": "players.experience",
    "load_experience_player": "players.experience",
    "make_player": "players.player_names",
    "PerfectPlayer": "players.perfect",
    "Player": "players.player",
    "RandomPlayer": "players.random",
    "TabularPlayer": "players.tabular",
    "ValueNetPlayer": "players.value_net",
    "perfect_values": "search.backward_induction",
    "Session": "playing.session",
    "Settings": "settings.run",
    "compose_settings": "settings.run",
    "settings_of_run": "runs.run_settings",
}

__all__ = [
    "Board",
    "EpsilonGreedyPlayer",
    "ExperiencePlayer",
    "ExperienceStore",
    "Game",
    "Grade",
    "Grader",
    "LearnedRun",
    "MatchRecord",
    "PerfectPlayer",
    "Player",
    "RandomPlayer",
    "SelfPlayError",
    "Session",
    "Settings",
    "State",
    "TabularPlayer",
    "ValueNetPlayer",
    "check_game",
    "compare_levels",
    "compose_settings",
    "enumerate_positions",
    "generate_level",
    "learn_levels",
    "load_experience_player",
    "load_level",
    "make_game",
    "make_player",
    "perfect_values",
    "play_matches",
    "settings_of_run",
    "train_level",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'selfplay' has no attribute {name!r}")
    return getattr(import_module(f"selfplay.{_HOMES[name]}"), name)
