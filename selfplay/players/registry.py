"""`make_player` makes a player from its name, which begins with one of the kinds of players in PLAYERS."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.errors import SettingError, shortened
from selfplay.players.player_names import EPSILON, PlayerKind, PlayerName, check_argument, parse_options
from selfplay.registry import is_module
from selfplay.settings.choices import PLAYERS

# --help reads the registry, so importing it must not load torch, which takes seconds.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player

MODULE_AND_ATTRIBUTE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_]\w*")


def make_player(text: str, game: "Game", run_dir: str | Path, *, against_person: bool = False) -> "Player":
    """The player that `text` names.

    Args:
        run_dir: the run of the levels `level:L`, unless the name specifies another.
        against_person: whether it is to play against a person; some players then learn by default.

    Raises:
        SettingError: the name is unknown, or an option is unknown or out of range.
        StageError, InvalidFileError: a file that the player is made from is missing or broken.
        GameTooLargeError: the player needs a game with fewer positions.
    """
    name = parse_name(text, run_dir)._replace(against_person=against_person)
    player = player_kind(name.kind).make(name, game, Path(run_dir))
    if EPSILON.name not in name.given:
        return player
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    rate = name.options[EPSILON.name]
    if not 0 <= rate <= 1:
        raise SettingError(f"player {shortened(text)!r}: epsilon must be from 0 to 1")
    return EpsilonGreedyPlayer(game, player, [rate])


def files_of_player(text: str, run_dir: str | Path) -> list[Path]:
    """The files that the player named `text` is made from. Raises SettingError and StageError as `make_player`."""
    return files_of(parse_name(text, run_dir), Path(run_dir))


def files_of(name: PlayerName, run_dir: Path) -> list[Path]:
    """As `files_of_player`, of a parsed name."""
    files = player_kind(name.kind).files
    return [] if files is None else files(name, run_dir)


def parse_name(text: str, run_dir: str | Path = ".") -> PlayerName:
    """`text` as a name of one of the kinds. Raises SettingError if it is not one; `run_dir` as for `make_player`."""
    kind_name = _kind_name(text)
    return parse_options(text, kind_name, player_kind(kind_name), Path(run_dir))


def player_kind(name: str) -> PlayerKind:
    """The kind with this name, or `module:attribute`. Raises SettingError if it cannot be imported."""
    kind: Any = PLAYERS[name]
    if isinstance(kind, PlayerKind):
        return kind
    if not callable(kind):
        raise SettingError(f"player {shortened(name)!r}: is not a class or function that makes a player")
    meaning = (kind.__doc__ or name).strip().splitlines()[0]
    return PlayerKind(name.rpartition(":")[2], meaning, lambda _name, game, _run_dir: kind(game))


def agent_name(part: str, name: PlayerName, run_dir: Path) -> PlayerName | None:
    """The name of a learned agent that `part`, a part of `name`, is; None if it does not begin with a kind of these.

    It has those options of the whole name that its kind has too, such as run_dir. Raises SettingError if the part does
    not follow the syntax of its kind.
    """
    kind_name, _, argument = part.partition(":")
    if kind_name not in PLAYERS or (kind := player_kind(kind_name)).agent is None:
        return None
    check_argument(part, argument, kind, run_dir)
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


def grammar() -> str:
    """The names of players, one line per kind, for --help."""
    kinds = [player_kind(name) for name in PLAYERS]
    width = max(len(kind.syntax) for kind in kinds)
    lines = [f"  {kind.syntax:{width}}  {kind.meaning}{_options_text(kind)}" for kind in kinds]
    lines.append("Every player also takes the option epsilon, the share of its actions that are random:")
    lines.append("  'level:17?depth=2&epsilon=0.1' (in quotes, because ? and & are special to the shell)")
    lines.append("A player from another package is written module:Class; the class is called with the game.")
    return "\n".join(lines)


def _options_text(kind: PlayerKind) -> str:
    return f"; options {', '.join(option.name for option in kind.options)}" if kind.options else ""


def _kind_name(text: str) -> str:
    """The part of `text` that names the kind: a word, or module:attribute if this module exists."""
    word = re.split("[:?]", text, maxsplit=1)[0]
    if word in PLAYERS:
        return word
    outside = MODULE_AND_ATTRIBUTE.match(text)
    if outside is None or not is_module(outside[1]):
        syntaxes = ", ".join(player_kind(name).syntax for name in PLAYERS)
        raise SettingError(f"unknown player {shortened(text)!r}; choose from {syntaxes}")
    return outside[0]
