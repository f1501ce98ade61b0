"""Learned agents: `level:L`, `policy:L`, its policy head without search, and `pretrained`."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.files import read_once
from selfplay.players.player_names import (
    OfferedPlayer,
    Option,
    PlayerKind,
    PlayerName,
    check_argument,
    make_player,
    player_kind,
    whole_number,
)
from selfplay.runs.pretrained import pretrained_agent, pretrained_agents
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.choices import PLAYERS, PRETRAINED

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player
    from selfplay.settings.playing import WebSettings

OWN_KIND = "a player like itself that sometimes moves at random, as in its training"
"""Against whom the values of learned agents hold."""


def _make_level(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    if _level(name) == 0:
        return RandomPlayer(game)
    return level_agent(name, game, run_dir).player(name.options["depth"], name.options["temperature"])


def level_agent(name: PlayerName, game: "Game", run_dir: Path) -> "Agent":
    """The level whose number is the argument of the name. Raises SettingError if it is not a whole number."""
    from selfplay.players.agent import Agent

    return Agent.of_level(run_dir, _level(name), game)


def level_files(name: PlayerName, run_dir: Path) -> list[Path]:
    """The file of this level. Raises SettingError as `level_agent`, and StageError if the run does not have it."""
    level = _level(name)
    return [RunFolder(run_dir).existing_agent(level)] if level else []


def _level(name: PlayerName) -> int:
    return whole_number(name.text, name.argument, "the level")


def level_offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    """Every level, as it played in its own matches."""
    from selfplay.players.agent import load_level

    run = RunFolder(run_dir)
    levels = run.trained_levels()
    for level in levels:
        yield OfferedPlayer(
            f"level-{level}",
            "level",
            f"Level {level}",
            f"{described(run.agent(level))[0]}, learned by self-play; looks at its own next move only",
            partial(load_level, run_dir, level, game),
            file=run.agent(level),
            has_fixed_values=True,
            group="Levels of the run",
            number=level,
            values_hold=OWN_KIND,
            is_default=level == levels[-1],
        )


@read_once(500)
def described(agent: Path) -> tuple[str, bool]:
    """A description of the network in a file, and whether compiled searches can compute its values."""
    from selfplay.architectures import ARCHITECTURES, NETWORK, description_of
    from selfplay.architectures.capabilities import CompiledValues, FeatureWeights
    from selfplay.errors import SelfPlayError
    from selfplay.runs.checkpoints import read_metadata

    try:
        name = read_metadata(agent)["architecture"]["name"]
        network, description = ARCHITECTURES[name], description_of(name)
    except (SelfPlayError, KeyError):
        # The error is reported when the player is made.
        return NETWORK, False
    is_compiled = isinstance(network, type) and issubclass(network, CompiledValues | FeatureWeights)
    return description, is_compiled


LEVEL = PlayerKind(
    "level:L",
    "level L of the run in run_dir",
    _make_level,
    (Option("depth", int, 1), Option("temperature", float, 0.0), Option("run_dir")),
    files=level_files,
    agent=level_agent,
    offers=level_offers,
)


def _make_policy(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.network_evaluator import PolicyNetPlayer

    evaluator = level_agent(name, game, run_dir).policy(symmetries=name.options["symmetries"])
    return PolicyNetPlayer(game, evaluator, name.text)


POLICY = PlayerKind(
    "policy:L",
    "the most promising action by the policy head of level L, without search",
    _make_policy,
    (Option("symmetries", bool, False), Option("run_dir")),
    files=level_files,
)


SEARCH_DEPTH, SOLVED_EMPTIES = 5, 10
"""Of the search that is offered as an opponent."""


def _make_pretrained(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    return _pretrained(name, game, run_dir).player(name.options["depth"], name.options["temperature"])


def _pretrained(name: PlayerName, game: "Game", run_dir: Path) -> "Agent":
    from selfplay.players.agent import Agent

    return Agent.load(pretrained_agent(game.name), game, PRETRAINED)


def _pretrained_offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    file = pretrained_agents().get(game.name)
    if file is None:
        return
    yield OfferedPlayer(
        "pretrained",
        "pretrained",
        "Pretrained",
        "comes with the program; learned by self-play",
        partial(make_player, PRETRAINED, game, run_dir),
        file=file,
        has_fixed_values=True,
        values_hold=OWN_KIND,
    )
    search = f"search:negascout?depth={SEARCH_DEPTH}&endgame={SOLVED_EMPTIES}&evaluation={PRETRAINED}"
    yield OfferedPlayer(
        "pretrained-search",
        "pretrained",
        f"Pretrained, {SEARCH_DEPTH} plies",
        f"looks {SEARCH_DEPTH} plies ahead with the agent that comes with the program",
        partial(make_player, search, game, run_dir),
        file=file,
        # A level of the user's own run is more interesting.
        is_recommended=not RunFolder(run_dir).trained_levels(),
        is_slow=True,
    )


PRETRAINED_AGENT = PlayerKind(
    PRETRAINED,
    "the agent that comes with the program, for some games",
    _make_pretrained,
    (Option("depth", int, 1), Option("temperature", float, 0.0)),
    files=lambda *_: list(pretrained_agents().values()),
    agent=_pretrained,
    offers=_pretrained_offers,
)


# ---------------------------------------------------------------------- within other names


def agent_name(part: str, name: PlayerName) -> PlayerName | None:
    """`part`, a part of `name`, as the name of a learned agent; None if it is not such a name.

    It gets the options of the whole name that its kind has too, such as run_dir. Raises SettingError if the part does
    not follow the syntax of its kind.
    """
    kind_name, _, argument = part.partition(":")
    if kind_name not in PLAYERS or (kind := player_kind(kind_name)).agent is None:
        return None
    check_argument(part, argument, kind)
    defaults = {option.name: option.default for option in kind.options}
    given = {option: value for option, value in name.given.items() if option in defaults}
    return PlayerName(name.text, kind_name, argument, defaults | given, given)


def make_agent(name: PlayerName, game: "Game", run_dir: Path) -> "Agent":
    """The learned agent with a name that `agent_name` has found. Raises as `make_player`."""
    agent = player_kind(name.kind).agent
    assert agent is not None, "checked by `agent_name`"
    return agent(name, game, run_dir)


def agent_syntaxes() -> Iterator[str]:
    """How each kind of learned agents is written, for error messages."""
    return (kind.syntax for kind in map(player_kind, PLAYERS) if kind.agent is not None)
