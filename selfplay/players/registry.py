"""Names of players: a small language in which every script says who plays.

    NAME[:WHAT][?OPTION=VALUE&OPTION=VALUE...]

`perfect`, `level:17`, `level:17?depth=2&temperature=0.1`. To add a kind of player, write the function that makes it and
add a line to PLAYER_KINDS.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from selfplay.errors import SettingError

# --help shows the kinds of players, so what makes them is imported where it is used.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Valuation

Options = Mapping[str, str]


class PlayerName(NamedTuple):
    """A name, taken apart."""

    text: str
    kind: str
    what: str
    """What stands after the colon; empty if nothing does."""
    options: Options


class PlayerKind(NamedTuple):
    """A kind of players that names can stand for."""

    syntax: str
    """How its names are written, without the options."""
    meaning: str
    """What it is, in one line."""
    make: "Callable[[PlayerName, Game, Path], Player]"
    """(name, game, run_dir) to the player."""
    options: tuple[str, ...] = ()
    """The options that it takes, beside epsilon, which all take."""
    is_command: bool = False
    """Whether a command stands after the colon: it may hold a question mark, and only the last one begins options."""


def make_player(text: str, game: "Game", run_dir: str | Path) -> "Player":
    """The player that `text` names.

    Args:
        run_dir: where the levels of `level:L` are, unless the name says otherwise.

    Raises:
        SettingError: the name is unknown, or an option is unknown or out of range.
        StageError, InvalidFileError: what it is made from is missing or broken.
        GameTooLargeError: it needs a game with fewer positions.
    """
    name = parse_name(text, Path(run_dir))
    player = PLAYER_KINDS[name.kind].make(name, game, Path(run_dir))
    if "epsilon" not in name.options:
        return player
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    return EpsilonGreedyPlayer(game, player, [_number(name, "epsilon", 0.0)])


def parse_name(text: str, run_dir: Path | None = None) -> PlayerName:
    """`text` taken apart. Raises SettingError if it follows no rule of PLAYER_KINDS; `run_dir` as for `make_player`."""
    kind = re.split("[:?]", text, maxsplit=1)[0]
    name, option_text = _split_at_options(text, PLAYER_KINDS.get(kind))
    what = name.partition(":")[2]
    if kind not in PLAYER_KINDS:
        raise SettingError(f"unknown player {text!r}; there are {', '.join(k.syntax for k in PLAYER_KINDS.values())}")
    syntax, allowed = PLAYER_KINDS[kind].syntax, (*PLAYER_KINDS[kind].options, "epsilon")
    lacking = not what and ":" in syntax and "[" not in syntax
    if lacking or (what and ":" not in syntax):
        raise SettingError(f"player {text!r}: write {syntax}{_choices_text(kind, run_dir)}")
    options: dict[str, str] = {}
    for part in option_text.split("&") if option_text else ():
        option, equals, value = part.partition("=")
        if option not in allowed or not equals or option in options:
            raise SettingError(f"player {text!r}: {part!r} is no option of {syntax}; it takes {', '.join(allowed)}")
        options[option] = value
    return PlayerName(text, kind, what, options)


def _split_at_options(text: str, kind: PlayerKind | None) -> tuple[str, str]:
    """A name and its options. Of a command, what stands after a question mark and is no option belongs to it."""
    if kind is None or not kind.is_command:
        name, _, options = text.partition("?")
        return name, options
    name, _, options = text.rpartition("?")
    known = {part.partition("=")[0] for part in options.split("&")} <= {*kind.options, "epsilon"}
    return (name, options) if name and known else (text, "")


def grammar() -> str:
    """The names that there are, a line each, for --help."""
    width = max(len(kind.syntax) for kind in PLAYER_KINDS.values())
    lines = [f"  {kind.syntax:{width}}  {kind.meaning}{_options_text(kind)}" for kind in PLAYER_KINDS.values()]
    lines.append("Every player also takes the option epsilon, the share of its actions that are random:")
    lines.append("  'level:17?depth=2&epsilon=0.1' (quoted, because a shell reads ? and & otherwise)")
    return "\n".join(lines)


def _options_text(kind: PlayerKind) -> str:
    return f"; options {', '.join(kind.options)}" if kind.options else ""


def _choices_text(kind: str, run_dir: Path | None) -> str:
    """What may stand after the colon, where that can be listed."""
    if kind == "search":
        from selfplay.search.searcher import ALGORITHMS

        return f", with {', '.join(ALGORITHMS)}"
    if kind != "tabular" or run_dir is None:
        return ""
    tables = [str(path) for path in sorted((run_dir / "tabular").glob("*.npz"))]
    return f", with {', '.join(tables)}" if tables else f"; there are no tables in {run_dir / 'tabular'} yet"


def _number(name: PlayerName, option: str, default: float) -> float:
    try:
        return float(name.options.get(option, default))
    except ValueError as error:
        raise SettingError(f"player {name.text!r}: {option} must be a number") from error


def _yes(name: PlayerName, option: str, default: bool) -> bool:
    value = name.options.get(option, str(default)).lower()
    if value not in ("true", "false"):
        raise SettingError(f"player {name.text!r}: {option} must be true or false")
    return value == "true"


def _whole_number(name: PlayerName, text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise SettingError(f"player {name.text!r}: {what} must be a whole number")
    return int(text)


# ---------------------------------------------------------------------- the kinds of players


def _random(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    return RandomPlayer(game)


def _perfect(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.perfect import PerfectPlayer

    return PerfectPlayer(positions_of(game.name), name.options.get("ties", "random"))


def _level(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.levels import load_level
    from selfplay.players.random import RandomPlayer

    level = _whole_number(name, name.what, "the level")
    if level == 0:
        return RandomPlayer(game)
    depth = _whole_number(name, name.options.get("depth", "1"), "depth")
    temperature = _number(name, "temperature", 0.0)
    return load_level(name.options.get("run_dir", run_dir), level, game, depth=depth, temperature=temperature)


def _tabular(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.tabular import load_tabular_player

    return load_tabular_player(Path(name.what), positions_of(game.name))


def _experience(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.experience import load_experience_player
    from selfplay.settings.experience import ExperienceRule

    asked = {option: value for option, value in name.options.items() if option in ("backup", "discount", "canonical")}
    rule = None
    if asked:
        discount, canonical = _number(name, "discount", 0.9), _yes(name, "canonical", False)
        rule = ExperienceRule(asked.get("backup", "absolute"), discount, canonical)
    path = Path(name.what) if name.what else run_dir / "experience.sqlite"
    return load_experience_player(path, game, rule, learns=_yes(name, "learn", True))


def _search(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.searcher import Searcher

    evaluation = _valuation(name, game, run_dir)
    if evaluation is None:
        return _whole_tree(name, game, run_dir)
    ordered, bits = _yes(name, "ordered", True), _whole_number(name, name.options.get("table_bits", "16"), "table_bits")
    searcher = Searcher(game, evaluation, name.what, ordered=ordered, table_bits=bits)
    depth = _whole_number(name, name.options.get("depth", "4"), "depth")
    limit = _number(name, "time_limit", 0.0) if "time_limit" in name.options else None
    endgame = _whole_number(name, name.options.get("endgame", "0"), "endgame")
    own_name = name.text.removeprefix("search:")
    return SearchPlayer(searcher, depth, time_limit=limit, endgame=endgame, name=own_name)


def _valuation(name: PlayerName, game: "Game", run_dir: Path) -> "Valuation | None":
    """What the option evaluation stands for; None if it is a level whose network searches cannot compile."""
    from selfplay.players.learned_evaluation import level_evaluation
    from selfplay.search.evaluation import make_evaluation

    evaluation = name.options.get("evaluation", "none")
    kind, colon, level = evaluation.partition(":")
    if kind != "level" or not colon:
        return make_evaluation(evaluation, game)
    return level_evaluation(name.options.get("run_dir", run_dir), _whole_number(name, level, "the level"), game)


def _whole_tree(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    """A network looks the whole tree through, a batch at a time, which no option of searches changes."""
    from selfplay.players.levels import load_level
    from selfplay.search.searcher import ALGORITHMS

    if name.what not in ALGORITHMS:
        raise SettingError(f"unknown search {name.what!r}; there are {', '.join(ALGORITHMS)}")
    if foreign := [option for option in ("time_limit", "endgame") if option in name.options]:
        raise SettingError(f"player {name.text!r}: {foreign[0]} is for levels of tables (architecture=ntuple...)")
    level = int(name.options["evaluation"].partition(":")[2])
    depth = _whole_number(name, name.options.get("depth", "2"), "depth")
    player = load_level(name.options.get("run_dir", run_dir), level, game, depth=depth)
    player.name = name.text.removeprefix("search:")
    return player


def _greedy_discs(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    return SearchPlayer(Searcher(game, make_evaluation("discs", game)), 1, name=name.text)


def _gtp(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.gtp import GtpPlayer

    options = {option: value for option, value in name.options.items() if option in ("rows", "passes")}
    return GtpPlayer(game, name.what, time_limit=_number(name, "time_limit", 60.0), **options)


def _human(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    raise SettingError(f"player {name.text!r}: a person plays at play/console.py")


PLAYER_KINDS: dict[str, PlayerKind] = {
    "random": PlayerKind("random", "every legal action with the same probability", _random),
    "perfect": PlayerKind("perfect", "perfect play, in games that can be enumerated", _perfect, ("ties",)),
    "level": PlayerKind("level:L", "level L of the run in run_dir", _level, ("depth", "temperature", "run_dir")),
    "tabular": PlayerKind("tabular:PATH", "the tables that train/train_tabular.py wrote there", _tabular),
    "experience": PlayerKind(
        "experience[:PATH]",
        "the machine that learns from experience, with its store there or in run_dir/experience.sqlite",
        _experience,
        ("learn", "backup", "discount", "canonical"),
    ),
    "search": PlayerKind(
        "search:ALGORITHM",
        "minimax, alpha_beta or negascout, looking ahead",
        _search,
        ("depth", "evaluation", "ordered", "table_bits", "time_limit", "endgame", "run_dir"),
    ),
    "greedy_discs": PlayerKind("greedy_discs", "the most discs now, in games that count them", _greedy_discs),
    "gtp": PlayerKind(
        "gtp:COMMAND",
        "an engine of the Go Text Protocol that this command starts",
        _gtp,
        ("time_limit", "rows", "passes"),
        is_command=True,
    ),
    "human": PlayerKind("human", "a person, at play/console.py only", _human),
}
