"""Learned agents: `level:L`, `policy:L`, its policy head without search, and `pretrained`."""

from collections.abc import Iterator
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.agents.network_evaluator import PolicyNetPlayer
from selfplay.agents.pretrained import PRETRAINED, pretrained_agent, pretrained_agents
from selfplay.errors import SettingError
from selfplay.files import read_once
from selfplay.games import Game
from selfplay.named_players.names import (
    ITSELF,
    PLAYERS,
    PlayerName,
    check_argument,
    kind_named,
    player_kind,
    whole_number_in_name,
)
from selfplay.players.player import Player, RandomPlayer
from selfplay.runs.levels import agent_of_level, load_agent
from selfplay.runs.run_folder import RunFolder


def level_agent(name: PlayerName, game: Game, run_dir: Path) -> Agent:
    """The level whose number is the argument of the name. Raises SettingError if it is not a whole number."""
    level = _level(name)
    untrained = None if name.stand_in is None else name.stand_in(run_dir, level)
    return untrained or agent_of_level(run_dir, level, game)


def level_files(name: PlayerName, run_dir: Path) -> list[Path]:
    """The file of this level. Raises SettingError as `level_agent`, and StageError if the run does not have it."""
    level = _level(name)
    return [RunFolder(run_dir).existing_agent(level)] if level else []


def _level(name: PlayerName) -> int:
    return whole_number_in_name(name.text, name.argument, "the level")


@player_kind("level:L", files=level_files, agent=level_agent)
def level(game: Game, name: PlayerName, *, depth: int = 1, temperature: float = 0.0, run_dir: Path) -> Player:
    """level L of the run in run_dir

    Args:
        depth: plies to look ahead
        temperature: 0: the best action; above 0: actions are drawn by their values at this temperature
    """
    if _level(name) == 0:
        return RandomPlayer(game)
    return level_agent(name, game, run_dir).player(depth, temperature)


@player_kind("policy:L", files=level_files)
def policy(game: Game, name: PlayerName, *, symmetries: bool = False, run_dir: Path) -> Player:
    """the most promising action by the policy head of level L, without search

    Args:
        symmetries: whether a position is evaluated as the mean over its images under the symmetries of the game
    """
    evaluator = level_agent(name, game, run_dir).policy(symmetries=symmetries)
    return PolicyNetPlayer(game, evaluator, name.text)


def _pretrained(name: PlayerName, game: Game, run_dir: Path | None = None) -> Agent:
    return _loaded(pretrained_agent(game.learned_as()), game)


@read_once(2)
def _loaded(path: Path, game: Game) -> Agent:
    """The agent in a file that comes with the program: players share its weights, which take megabytes."""
    return load_agent(path, game, PRETRAINED)


@player_kind(PRETRAINED, files=lambda *_: list(pretrained_agents().values()), agent=_pretrained)
def pretrained(game: Game, name: PlayerName, *, depth: int = 1, temperature: float = 0.0) -> Player:
    """the agent that comes with the program, for some games

    Args:
        depth: plies to look ahead
        temperature: 0: the best action; above 0: actions are drawn by their values at this temperature
    """
    return _pretrained(name, game).player(depth, temperature)


def _itself(name: PlayerName, game: Game, run_dir: Path | None = None) -> Agent:
    if name.itself is None:
        raise SettingError(f"player {name.text!r}: itself is a level of a run, only in the setting learner.self_play")
    return name.itself


@player_kind(ITSELF, agent=_itself)
def itself(game: Game, name: PlayerName, *, depth: int = 1, temperature: float = 0.0) -> Player:
    """the level that plays the matches of a run, in the setting learner.self_play

    Args:
        depth: plies to look ahead
        temperature: 0: the best action; above 0: actions are drawn by their values at this temperature
    """
    return _itself(name, game).player(depth, temperature)


# ---------------------------------------------------------------------- within other names


def agent_name(part: str, name: PlayerName) -> PlayerName | None:
    """`part`, a part of `name`, as the name of a learned agent; None if it is not such a name.

    It gets the options of the whole name that its kind has too, such as run_dir. Raises SettingError if the part does
    not follow the syntax of its kind.
    """
    kind_name, _, argument = part.partition(":")
    if kind_name not in PLAYERS or (kind := kind_named(kind_name)).agent is None:
        return None
    check_argument(part, argument, kind)
    defaults = {option.name: option.default for option in kind.options}
    given = {option: value for option, value in name.given.items() if option in defaults}
    return name._replace(kind=kind_name, argument=argument, options=defaults | given, given=given)


def make_agent(name: PlayerName, game: Game, run_dir: Path) -> Agent:
    """The learned agent with a name that `agent_name` has found. Raises as `make_player`."""
    agent = kind_named(name.kind).agent
    assert agent is not None, "checked by `agent_name`"
    return agent(name, game, run_dir)


def agent_syntaxes() -> Iterator[str]:
    """How each kind of learned agents is written, for error messages."""
    return (kind.syntax for kind in map(kind_named, PLAYERS) if kind.agent is not None)
