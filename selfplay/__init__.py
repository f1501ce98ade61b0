"""Agents that learn two-player board games by playing against themselves, and a proof of how well they play.

    import selfplay

    run = selfplay.learn("tictactoe", levels=3, seed=0)
    print(run.grade())
    print(selfplay.match(run.player(), "random", matches=100))

Names are imported on first use, so that code that needs no network does not wait for torch to be imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from selfplay.installation import __version__ as __version__

if TYPE_CHECKING:
    from selfplay.compute.bit_algebra import Word as Word
    from selfplay.compute.bit_algebra import bit_count as bit_count
    from selfplay.compute.bit_algebra import rule as rule
    from selfplay.compute.bit_algebra import word_of as word_of
    from selfplay.compute.positions import flag as flag
    from selfplay.compute.positions import number as number
    from selfplay.compute.positions import position as position
    from selfplay.compute.positions import squares as squares
    from selfplay.compute.random_numbers import Activity as Activity
    from selfplay.compute.random_numbers import Draws as Draws
    from selfplay.compute.random_numbers import Purpose as Purpose
    from selfplay.compute.random_numbers import stream_key as stream_key
    from selfplay.errors import IllegalActionError as IllegalActionError
    from selfplay.errors import SelfPlayError as SelfPlayError
    from selfplay.games import Game as Game
    from selfplay.games import Presentation as Presentation
    from selfplay.games import Rules as Rules
    from selfplay.games import State as State
    from selfplay.games import Symmetries as Symmetries
    from selfplay.games import make_game as make_game
    from selfplay.games.board import Board as Board
    from selfplay.games.conformance import check_game as check_game
    from selfplay.games.position_graph import enumerate_positions as enumerate_positions
    from selfplay.games.position_graph import perfect_values as perfect_values
    from selfplay.games.state import MatchRecord as MatchRecord
    from selfplay.games.win_draw_loss import WinDrawLoss as WinDrawLoss
    from selfplay.grading.proof import Grade as Grade
    from selfplay.grading.proof import Grader as Grader
    from selfplay.learners.experience.store import ExperienceStore as ExperienceStore
    from selfplay.named_players.by_name import grade as grade
    from selfplay.named_players.by_name import play_matches as play_matches
    from selfplay.named_players.make import make_player as make_player
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer as EpsilonGreedyPlayer
    from selfplay.players.experience import ExperiencePlayer as ExperiencePlayer
    from selfplay.players.experience import load_experience_player as load_experience_player
    from selfplay.players.perfect import PerfectPlayer as PerfectPlayer
    from selfplay.players.player import Player as Player
    from selfplay.players.random import RandomPlayer as RandomPlayer
    from selfplay.players.tabular import TabularPlayer as TabularPlayer
    from selfplay.players.value_net import ValueNetPlayer as ValueNetPlayer
    from selfplay.playing.session import Session as Session
    from selfplay.registry import name_modules as name_modules
    from selfplay.runs.levels import load_level as load_level
    from selfplay.settings.recorded import settings_of_run as settings_of_run
    from selfplay.settings.run import Settings as Settings
    from selfplay.settings.run import compose_settings as compose_settings
    from selfplay.stages.generate import generate_level as generate_level
    from selfplay.stages.loop import LearnedRun as LearnedRun
    from selfplay.stages.loop import learn as learn
    from selfplay.stages.loop import learn_levels as learn_levels
    from selfplay.stages.match_series import match as match
    from selfplay.stages.measure_levels import compare_levels as compare_levels
    from selfplay.stages.train import train_level as train_level

_HOMES = {
    "Activity": "compute.random_numbers",
    "Board": "games.board",
    "Draws": "compute.random_numbers",
    "EpsilonGreedyPlayer": "players.epsilon_greedy",
    "ExperiencePlayer": "players.experience",
    "ExperienceStore": "learners.experience.store",
    "Game": "games",
    "Grade": "grading.proof",
    "Grader": "grading.proof",
    "IllegalActionError": "errors",
    "LearnedRun": "stages.loop",
    "MatchRecord": "games.state",
    "PerfectPlayer": "players.perfect",
    "Player": "players.player",
    "Presentation": "games",
    "Purpose": "compute.random_numbers",
    "RandomPlayer": "players.random",
    "Rules": "games",
    "SelfPlayError": "errors",
    "Session": "playing.session",
    "Settings": "settings.run",
    "State": "games",
    "Symmetries": "games",
    "TabularPlayer": "players.tabular",
    "ValueNetPlayer": "players.value_net",
    "WinDrawLoss": "games.win_draw_loss",
    "Word": "compute.bit_algebra",
    "bit_count": "compute.bit_algebra",
    "check_game": "games.conformance",
    "compare_levels": "stages.measure_levels",
    "compose_settings": "settings.run",
    "enumerate_positions": "games.position_graph",
    "flag": "compute.positions",
    "grade": "named_players.by_name",
    "generate_level": "stages.generate",
    "learn": "stages.loop",
    "learn_levels": "stages.loop",
    "load_experience_player": "players.experience",
    "load_level": "runs.levels",
    "make_game": "games",
    "make_player": "named_players.make",
    "match": "stages.match_series",
    "name_modules": "registry",
    "number": "compute.positions",
    "perfect_values": "games.position_graph",
    "play_matches": "named_players.by_name",
    "position": "compute.positions",
    "rule": "compute.bit_algebra",
    "settings_of_run": "settings.recorded",
    "squares": "compute.positions",
    "stream_key": "compute.random_numbers",
    "train_level": "stages.train",
    "word_of": "compute.bit_algebra",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'selfplay' has no attribute {name!r}")
    return getattr(import_module(f"selfplay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
