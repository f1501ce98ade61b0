"""The names of players, by which scripts and settings choose them: their grammar, and the kinds of players.

    NAME[:ARGUMENT][?OPTION=VALUE&OPTION=VALUE...]

For example `perfect`, `level:17` or `level:17?depth=2&temperature=0.1`. A name begins with one of the kinds of players
in `PLAYERS`.
"""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, getdoc, signature
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import PRETRAINED
from selfplay.checks import LARGEST_COUNT
from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.games import Game
from selfplay.players.player import Player
from selfplay.registry import MODULE_NAME, Registry, is_module

ITSELF = "itself"
"""The kind of the level that plays the matches of a run, where these are described (`learner.self_play`)."""

PLAYERS: Registry[Any] = Registry(
    "player",
    {
        "beginner": "selfplay.named_players.strengths:beginner",
        "easy": "selfplay.named_players.strengths:easy",
        "medium": "selfplay.named_players.strengths:medium",
        "hard": "selfplay.named_players.strengths:hard",
        "strongest": "selfplay.named_players.strengths:strongest",
        "level": "selfplay.named_players.agents:level",
        PRETRAINED: "selfplay.named_players.agents:pretrained",
        "search": "selfplay.named_players.search:search",
        "mcts": "selfplay.named_players.mcts:mcts",
        "random": "selfplay.named_players.others:random",
        "tabular": "selfplay.named_players.classical:tabular",
        "experience": "selfplay.named_players.classical:experience",
        "greedy_discs": "selfplay.named_players.search:greedy_discs",
        "perfect": "selfplay.named_players.others:perfect",
        "policy": "selfplay.named_players.agents:policy",
        "gtp": "selfplay.named_players.others:gtp",
        "gomocup": "selfplay.named_players.others:gomocup",
        "nboard": "selfplay.named_players.others:nboard",
        "uci": "selfplay.named_players.others:uci",
        "openspiel": "selfplay.named_players.others:openspiel",
        ITSELF: "selfplay.named_players.agents:itself",
        "human": "selfplay.named_players.others:human",
    },
    group="selfplay.players",
)
"""The kinds of players, in the order in which --help-all and the page list them: each is a
`PlayerKind`, or a Player class whose only argument is a game."""


class Option(NamedTuple):
    """An option of a kind of players."""

    name: str
    type: type = str
    """int, float, bool or str."""
    default: Any = None
    meaning: str = ""
    """What it does, as the function that makes the player says; for the documentation."""


EPSILON = Option("epsilon", float, meaning="share of the actions that are random, 0 to 1")
"""The option of every kind."""
RUN_DIR = Option("run_dir", meaning="folder of the run whose files are read; null: that of the program")
"""The option of the kinds that read files of a run. The function that makes the player gets the folder."""


StandIn = Callable[[Path, int], Agent | None]
"""(run_dir, level) to an untrained agent in place of a level that is yet to be learned; None: it has a file."""


class PlayerName(NamedTuple):
    """A parsed name."""

    text: str
    kind: str
    argument: str
    """The text after the colon; empty if there is none."""
    options: Mapping[str, Any]
    """The value of each option of the kind, converted to its type; the default if it was not given."""
    given: Mapping[str, Any]
    against_person: bool = False
    """Whether the player plays against a person, which may change defaults."""
    itself: Agent | None = None
    """The learned agent that the kind ITSELF names, where a level plays the matches of a run; None: elsewhere."""
    stand_in: StandIn | None = None
    """Gives the agents of levels that are yet to be learned; None: all levels are read from their files."""

    def run_dir(self, usual: str | Path) -> Path:
        """The run that the option run_dir names, or else the usual one."""
        return user_path(self.options.get(RUN_DIR.name) or usual)

    def arguments(self, run_dir: Path) -> dict[str, Any]:
        """The keyword arguments of the function that makes the player, with this folder as its run."""
        own = {option: value for option, value in self.options.items() if option != EPSILON.name}
        return own | {RUN_DIR.name: run_dir} if RUN_DIR.name in own else own


class PlayerKind(NamedTuple):
    """A kind of players that can be chosen by name. `player_kind` makes it from a function."""

    syntax: str
    """How its names are written, without the options."""
    meaning: str
    make: Callable[[PlayerName, Game, Path], Player]
    """(name, game, run_dir) to the player. `run_dir` is the folder of the run the game is played in."""
    options: tuple[Option, ...] = ()
    is_command: bool = False
    """Whether the text after the colon is a command. Only the last question mark in it can begin options."""
    files: Callable[[PlayerName, Path], list[Path]] | None = None
    """(name, run_dir) to the files that it is made from, which determine how it plays; None: it needs none."""
    agent: Callable[[PlayerName, Game, Path], Agent] | None = None
    """(name, game, run_dir) to the learned agent that it plays. Its names can then also be used in names of searches,
    as in mcts:level:12 or search:negascout?evaluation=pretrained. None: it does not play a learned agent."""

    @property
    def needs_argument(self) -> bool:
        """Whether the text after the colon is required."""
        return ":" in self.syntax and "[" not in self.syntax


def player_kind(
    syntax: str,
    *,
    is_command: bool = False,
    files: Callable[[PlayerName, Path], list[Path]] | None = None,
    agent: Callable[[PlayerName, Game, Path], Agent] | None = None,
    more: tuple[Option, ...] = (),
) -> Callable[[Callable[..., Player]], PlayerKind]:
    """A decorator that turns a function into a kind of players. For the arguments see PlayerKind.

    `more` are options besides the function's own arguments, such as those of a class of parameters (`options_of`).

    The function gets the game and the parsed name, and returns the player. Its keyword-only arguments are the options,
    each int, float, bool or str; `run_dir: Path` gets the folder of the run: that of the option run_dir, or else the
    usual one. The first paragraph of its docstring is shown by --help-all and in error messages; its lines
    `option: text` say what the options mean.

    Examples:
        >>> @player_kind("nth:N")
        ... def nth(game: Game, name: PlayerName, *, from_end: bool = False) -> Player:
        ...     '''the n-th legal action'''
        ...     return Nth(game, int(name.argument), from_end)
    """

    def kind_of(make: Callable[..., Player]) -> PlayerKind:
        def made(name: PlayerName, game: Game, run_dir: Path) -> Player:
            return make(game, name, **name.arguments(run_dir))

        meaning = " ".join((getdoc(make) or syntax).partition("\n\n")[0].split())
        return PlayerKind(syntax, meaning, made, (*more, *options_of(make)), is_command, files, agent)

    return kind_of


OPTION_LINE = re.compile(r"^ +(\w+): (.+(?:\n {8,}.+)*)", re.MULTILINE)
"""An entry of the section Args of a docstring."""

TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
"""The types of options, by the texts of their annotations, which may end in "| None"."""


def options_of(make: Callable[..., object]) -> tuple[Option, ...]:
    """The options of the players that a function or class makes: its keyword-only arguments of these types."""
    options = []
    meanings = dict(OPTION_LINE.findall(getdoc(make) or ""))
    for name, argument in signature(make).parameters.items():
        # The annotation is compared as a text, because it may be in quotes, and name a type that is not imported.
        annotation = argument.annotation
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        kind = TYPES.get(text.removesuffix(" | None"))
        if argument.kind is not Parameter.KEYWORD_ONLY:
            continue
        if name == RUN_DIR.name:
            options.append(RUN_DIR)
        elif kind is not None and argument.default is not Parameter.empty:
            options.append(Option(name, kind, argument.default, " ".join(meanings.get(name, "").split())))
    return tuple(options)


def parse_name(text: str) -> PlayerName:
    """`text` as a name of one of the kinds.

    Raises SettingError if it does not name a kind, does not follow its syntax, or an option is wrong.
    """
    kind_name = _kind_name(text)
    kind = kind_named(kind_name)
    body, option_text = _split_at_options(text, kind)
    argument = body.removeprefix(kind_name).removeprefix(":")
    check_argument(text, argument, kind)
    allowed = {option.name: option for option in (*kind.options, EPSILON)}
    given: dict[str, Any] = {}
    for part in option_text.split("&") if option_text else ():
        name, equals, value = part.partition("=")
        if name in given:
            raise SettingError(f"player {shortened(text)!r}: option {name} is given twice")
        if name not in allowed:
            foreign = f"{shortened(part)!r} is not an option of {kind.syntax}"
            raise SettingError(f"player {shortened(text)!r}: {foreign}; it takes {', '.join(allowed)}")
        if not equals:
            raise SettingError(f"player {shortened(text)!r}: option {name} needs a value, as {name}=VALUE")
        given[name] = _converted(text, allowed[name], value)
    defaults = {option.name: option.default for option in allowed.values()}
    return PlayerName(text, kind_name, argument, defaults | given, given)


def check_argument(text: str, argument: str, kind: PlayerKind) -> None:
    """Raise SettingError unless the name `text` has an argument exactly if its kind takes one."""
    if (kind.needs_argument and not argument) or (argument and ":" not in kind.syntax):
        raise SettingError(f"player {shortened(text)!r}: write {kind.syntax}, {kind.meaning}")


def _split_at_options(text: str, kind: PlayerKind) -> tuple[str, str]:
    """The name without its options, and the options. In a command, only known options after the last ? are options."""
    if not kind.is_command:
        name, _, options = text.partition("?")
        return name, options
    name, _, options = text.rpartition("?")
    known = {option.name for option in (*kind.options, EPSILON)}
    are_options = {part.partition("=")[0] for part in options.split("&")} <= known
    return (name, options) if name and are_options else (text, "")


def _converted(text: str, option: Option, value: str) -> Any:
    if option.type is int:
        return whole_number_in_name(text, value, option.name)
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


def whole_number_in_name(name: str, text: str, what: str) -> int:
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


OF_A_MODULE = "or module:Class of a module that Python finds"
MODULE_AND_ATTRIBUTE = re.compile(rf"({MODULE_NAME}):[^\W\d]\w*")


def kind_named(name: str) -> PlayerKind:
    """The kind with this name, or `module:attribute`. Raises SettingError if it cannot be imported."""
    kind: Any = PLAYERS[name]
    if isinstance(kind, PlayerKind):
        return kind
    # A name must only call a player, in all places where names are given.
    if not (isinstance(kind, type) and issubclass(kind, Player)):
        raise SettingError(f"player {shortened(name)!r} is not a subclass of selfplay.Player, nor a PlayerKind")
    make: Callable[..., Player] = kind
    meaning = (kind.__doc__ or name).strip().splitlines()[0]

    def made(name: PlayerName, game: Game, run_dir: Path) -> Player:
        return make(game, **name.arguments(run_dir))

    return PlayerKind(name.rpartition(":")[2], meaning, made, options_of(make))


def grammar() -> str:
    """The names of players, one line per kind, for --help-all."""
    kinds = [kind_named(name) for name in PLAYERS]
    width = max(len(kind.syntax) for kind in kinds)
    options = (f"; options {', '.join(o.name for o in kind.options)}" if kind.options else "" for kind in kinds)
    lines = [f"  {kind.syntax:{width}}  {kind.meaning}{text}" for kind, text in zip(kinds, options, strict=True)]
    lines.append("Every player except human also takes the option epsilon, the share of its actions that are random:")
    lines.append("  'level:17?depth=2&epsilon=0.1' (in quotes, because ? and & are special to the shell)")
    lines.append("A player of your own is written module:Class; the class is called with the game.")
    return "\n".join(lines)


def _kind_name(text: str) -> str:
    """The part of `text` that names the kind: a word, or module:attribute if this module exists."""
    word = re.split("[:?]", text, maxsplit=1)[0]
    if word in PLAYERS:
        return word
    outside = MODULE_AND_ATTRIBUTE.match(text)
    if outside is None or not is_module(outside[1]):
        syntaxes = ", ".join(kind_named(name).syntax for name in PLAYERS)
        raise SettingError(f"unknown player {shortened(text)!r}; choose from {syntaxes}, {OF_A_MODULE}")
    return outside[0]
