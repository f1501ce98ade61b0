"""Agents that learn two-player board games by playing against themselves, and a proof of how well they play.

    import selfplay

    agent = selfplay.load_level("outputs/tictactoe", 10)
    state = agent.game.state_after(["1,1", "0,1"])
    print(agent.action_values(state))

Names are imported when they are first used, so that what needs no network does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.arena import MatchRecord, play_matches
    from selfplay.comparison import compare_levels
    from selfplay.errors import SelfPlayError
    from selfplay.experience_store import ExperienceStore
    from selfplay.games import Game, State, make_game
    from selfplay.games.conformance import check_game
    from selfplay.games.positions import enumerate_positions
    from selfplay.generation import generate_level
    from selfplay.grading import Grade, Grader
    from selfplay.level_players import load_level
    from selfplay.levels import learn_levels, train_level
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
    from selfplay.players.experience import ExperiencePlayer, load_experience_player
    from selfplay.players.naming import make_player
    from selfplay.players.perfect import PerfectPlayer
    from selfplay.players.player import Player
    from selfplay.players.random import RandomPlayer
    from selfplay.players.tabular import TabularPlayer
    from selfplay.players.value_net import ValueNetPlayer
    from selfplay.search.perfect import perfect_values
    from selfplay.session import Session
    from selfplay.settings import Settings, compose_settings

_HOMES = {
    "MatchRecord": "arena",
    "play_matches": "arena",
    "compare_levels": "comparison",
    "SelfPlayError": "errors",
    "ExperienceStore": "experience_store",
    "Game": "games",
    "State": "games",
    "make_game": "games",
    "check_game": "games.conformance",
    "enumerate_positions": "games.positions",
    "Grade": "grading",
    "Grader": "grading",
    "generate_level": "generation",
    "learn_levels": "levels",
    "load_level": "level_players",
    "train_level": "levels",
    "EpsilonGreedyPlayer": "players.epsilon_greedy",
    "ExperiencePlayer": "players.experience",
    "load_experience_player": "players.experience",
    "make_player": "players.naming",
    "PerfectPlayer": "players.perfect",
    "Player": "players.player",
    "RandomPlayer": "players.random",
    "TabularPlayer": "players.tabular",
    "ValueNetPlayer": "players.value_net",
    "perfect_values": "search.perfect",
    "Session": "session",
    "Settings": "settings",
    "compose_settings": "settings",
}

__all__ = [
    "EpsilonGreedyPlayer",
    "ExperiencePlayer",
    "ExperienceStore",
    "Game",
    "Grade",
    "Grader",
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
    "train_level",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'selfplay' has no attribute {name!r}")
    return getattr(import_module(f"selfplay.{_HOMES[name]}"), name)
