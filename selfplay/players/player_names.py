"""The grammar of player names, which scripts and settings use to choose players.

    NAME[:ARGUMENT][?OPTION=VALUE&OPTION=VALUE...]

For example `perfect`, `level:17` or `level:17?depth=2&temperature=0.1`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfplay.errors import SettingError, shortened
from selfplay.players.offers import LAST, OfferedPlayer, OfferLimits
from selfplay.settings.checks import LARGEST_COUNT

# --help reads this grammar, so importing it must not load torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player


class Option(NamedTuple):
    """An option of a kind of players."""

    name: str
    type: type = str
    """int, float, bool or str."""
    default: Any = None


EPSILON = Option("epsilon", float)
"""The option of every kind: the share of actions that are random."""


class PlayerName(NamedTuple):
    """A parsed name."""

    text: str
    kind: str
    argument: str
    """The text after the colon; empty if there is none."""
    options: Mapping[str, Any]
    """The value of each option of the kind, converted to its type; the default if it was not given."""
    given: Mapping[str, Any]
    """Only the options that were given."""
    against_person: bool = False
    """Whether the player plays against a person, which may change defaults."""


class PlayerKind(NamedTuple):
    """A kind of players that can be chosen by name."""

    syntax: str
    """How its names are written, without the options."""
    meaning: str
    """What it is, in one line."""
    make: "Callable[[PlayerName, Game, Path], Player]"
    """(name, game, run_dir) to the player. `run_dir` is the folder of the run the game is played in."""
    options: tuple[Option, ...] = ()
    choices: Callable[[Path], str] | None = None
    """(run_dir) to a phrase for error messages that lists the possible texts after the colon."""
    is_command: bool = False
    """Whether the text after the colon is a command. Of the question marks in it, only the last can begin options."""
    files: Callable[[PlayerName, Path], list[Path]] | None = None
    """(name, run_dir) to the files that it is made from, which determine how it plays; None: it needs none."""
    agent: "Callable[[PlayerName, Game, Path], Agent] | None" = None
    """(name, game, run_dir) to the learned agent that it plays; its names can then stand in names of searches too, as
    in mcts:level:12 or search:negascout?evaluation=pretrained. None: it does not play one."""
    offers: "Callable[[Game, Path, OfferLimits], Iterator[OfferedPlayer]] | None" = None
    """(game, run_dir, limits) to the opponents that it offers; None: itself, by its name, unless it needs an argument.
    `run_dir` is the folder of the run the game is played in."""
    place: int = LAST
    """Where its opponents stand in the list: kinds with lower places come first."""
    needs_solution: bool = False
    """Whether they are offered only in games that can be solved at once, which takes seconds to find out."""

    @property
    def needs_argument(self) -> bool:
        """Whether the text after the colon is required."""
        return ":" in self.syntax and "[" not in self.syntax


def parse_options(text: str, kind_name: str, kind: PlayerKind, run_dir: Path) -> PlayerName:
    """Parse a name of this kind. Raises SettingError if it does not follow the syntax or an option is wrong."""
    body, option_text = _split_at_options(text, kind)
    argument = body.removeprefix(kind_name).removeprefix(":")
    check_argument(text, argument, kind, run_dir)
    allowed = {option.name: option for option in (*kind.options, EPSILON)}
    given: dict[str, Any] = {}
    for part in option_text.split("&") if option_text else ():
        name, equals, value = part.partition("=")
        if name not in allowed or not equals or name in given:
            foreign = f"{shortened(part)!r} is not an option of {kind.syntax}"
            raise SettingError(f"player {shortened(text)!r}: {foreign}; it takes {', '.join(allowed)}")
        given[name] = _converted(text, allowed[name], value)
    defaults = {option.name: option.default for option in allowed.values()}
    return PlayerName(text, kind_name, argument, defaults | given, given)


def check_argument(text: str, argument: str, kind: PlayerKind, run_dir: Path) -> None:
    """Raise SettingError unless the name `text` has an argument exactly if its kind takes one."""
    if (kind.needs_argument and not argument) or (argument and ":" not in kind.syntax):
        choices = f"; {kind.choices(run_dir)}" if kind.choices else ""
        raise SettingError(f"player {shortened(text)!r}: write {kind.syntax}{choices}")


def _split_at_options(text: str, kind: PlayerKind) -> tuple[str, str]:
    """The name without its options, and the options. In a command, only known options after the last ? count."""
    if not kind.is_command:
        name, _, options = text.partition("?")
        return name, options
    name, _, options = text.rpartition("?")
    known = {option.name for option in (*kind.options, EPSILON)}
    are_options = {part.partition("=")[0] for part in options.split("&")} <= known
    return (name, options) if name and are_options else (text, "")


def _converted(text: str, option: Option, value: str) -> Any:
    if option.type is int:
        return whole_number(text, value, option.name)
    if option.type is bool:
        if value.lower() not in ("true", "false"):
            raise SettingError(f"player {shortened(text)!r}: {option.name} must be true or false")
        return value.lower() == "true"
    try:
        converted = option.type(value)
        # Only numbers: nan and inf are texts that float() accepts.
        if option.type is float and not isfinite(converted):
            raise ValueError
        return converted
    except ValueError as error:
        raise SettingError(f"player {shortened(text)!r}: {option.name} must be a number") from error


def whole_number(name: str, text: str, what: str) -> int:
    """`text`, part of the player name `name`, as an int of 0 or more. Raises SettingError naming `what`."""
    if not (text.isascii() and text.isdigit()):
        raise SettingError(f"player {shortened(name)!r}: {what} must be a whole number")
    if len(text) > len(str(LARGEST_COUNT)) or int(text) > LARGEST_COUNT:
        raise SettingError(f"player {shortened(name)!r}: {what} must be at most {LARGEST_COUNT:,}")
    return int(text)


def readable_name(player: str) -> str:
    """The name of a player in figures and on the page: "negascout, 6 plies, article" for a search, else unchanged."""
    found = re.fullmatch(r"search:(\w+)\?depth=(\d+)(?:&evaluation=(\w+))?", player)
    if found is None:
        return player.removeprefix("search:")
    algorithm, depth, evaluation = found.groups()
    plies = "1 ply" if depth == "1" else f"{depth} plies"
    return f"{algorithm}, {plies}" if evaluation in (None, "none") else f"{algorithm}, {plies}, {evaluation}"
