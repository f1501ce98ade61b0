"""`search:ALGORITHM`: looking ahead, and `greedy_discs`, which looks one ply ahead for discs."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.offers import Offering
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number
from selfplay.players.search_offers import most_discs_offer, search_offers
from selfplay.runs.pretrained import pretrained_agent, pretrained_agents
from selfplay.settings.choices import PRETRAINED

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Evaluation

DEPTH, NETWORK_DEPTH = 4, 2
"""Plies to look ahead by default: in compiled searches, and with a network, which evaluates the whole tree."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.learned_evaluation import level_evaluation
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation_files import make_evaluation
    from selfplay.search.searcher import Searcher

    options, level = name.options, _level(name)
    folder = options["run_dir"] or run_dir
    if options["evaluation"] == PRETRAINED:
        folder, level = pretrained_agent(game.name)
    if level is None:
        evaluation: Evaluation | None = make_evaluation(options["evaluation"], game)
    else:
        evaluation = level_evaluation(folder, level, game)
    if evaluation is None:
        return _network_search(name, game, folder, level or 0)
    searcher = Searcher(game, evaluation, name.argument, ordered=options["ordered"], table_bits=options["table_bits"])
    return SearchPlayer(
        searcher,
        DEPTH if options["depth"] is None else options["depth"],
        time_limit=options["time_limit"],
        endgame=options["endgame"],
        name=_own_name(name),
    )


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.players.levels import agent_of
    from selfplay.search.evaluation_files import evaluation_path

    level = _level(name)
    if name.options["evaluation"] == PRETRAINED:
        return [agent.path for agent in pretrained_agents().values()]
    if level is None:
        return [evaluation_path(name.options["evaluation"])]
    return [agent_of(name.options["run_dir"] or run_dir, level)]


def _level(name: PlayerName) -> int | None:
    """The level in the option evaluation=level:L; None if it names another evaluation."""
    kind, colon, level = name.options["evaluation"].partition(":")
    return whole_number(name.text, level, "the level") if kind == "level" and colon else None


def _network_search(name: PlayerName, game: "Game", run_dir: str | Path, level: int) -> "Player":
    """The player of a level whose network cannot be compiled: it evaluates the whole tree in batches of positions."""
    from selfplay.players.levels import load_level
    from selfplay.search.searcher import ALGORITHMS

    if name.argument not in ALGORITHMS:
        raise SettingError(f"unknown search {name.argument!r}; choose from {', '.join(ALGORITHMS)}")
    if unsupported := [option for option in ("time_limit", "endgame") if option in name.given]:
        raise SettingError(f"player {name.text!r}: {unsupported[0]} needs a level with tables (architecture=ntuple...)")
    depth = NETWORK_DEPTH if name.options["depth"] is None else name.options["depth"]
    player = load_level(run_dir, level, game, depth=depth)
    player.name = _own_name(name)
    return player


def _own_name(name: PlayerName) -> str:
    return name.text.removeprefix("search:")


def _algorithms(run_dir: Path) -> str:
    from selfplay.search.searcher import ALGORITHMS

    return f"choose from {', '.join(ALGORITHMS)}"


def _make_greedy_discs(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation_files import make_evaluation
    from selfplay.search.searcher import Searcher

    return SearchPlayer(Searcher(game, make_evaluation("discs", game)), 1, name=name.text)


KIND = PlayerKind(
    "search:ALGORITHM",
    "minimax, alpha_beta or negascout, looking ahead",
    _make,
    (
        Option("depth", int),
        Option("evaluation", str, "none"),
        Option("ordered", bool, True),
        Option("table_bits", int, 16),
        Option("time_limit", float),
        Option("endgame", int, 0),
        Option("run_dir"),
    ),
    choices=_algorithms,
    files=_files,
    offering=Offering(search_offers, 2),
)
GREEDY_DISCS = PlayerKind(
    "greedy_discs",
    "the most discs after its move, where discs count",
    _make_greedy_discs,
    offering=Offering(most_discs_offer, 6),
)
