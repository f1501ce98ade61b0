"""`search:ALGORITHM`: looking ahead, and `greedy_discs`, which looks one ply ahead for discs."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.player_names import Option, PlayerKind, PlayerName
from selfplay.players.registry import agent_name, files_of, make_agent
from selfplay.players.search_offers import most_discs_offer, search_offers
from selfplay.runs.run_folder import PROBCUT_FILE

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Evaluation

DEPTH, NETWORK_DEPTH = 4, 2
"""Plies to look ahead by default: in compiled searches, and with a network, which evaluates the whole tree."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.feature_evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    options, named, probcut = name.options, _agent_name(name, run_dir), None
    if named is None:
        if "probcut" in name.given:
            raise SettingError(f"player {name.text!r}: probcut needs evaluation=level:L or evaluation=pretrained")
        evaluation: Evaluation = make_evaluation(options["evaluation"], game)
    else:
        agent = make_agent(named, game, run_dir)
        if (learned := agent.evaluation()) is None:
            return _network_search(name, agent)
        evaluation = learned
        if "probcut" in name.given:
            probcut = agent.probcut(options["probcut"], name.text)
    how = {option: options[option] for option in ("ordered", "table_bits")}
    return SearchPlayer(
        Searcher(game, evaluation, name.argument, **how, probcut=probcut),
        DEPTH if options["depth"] is None else options["depth"],
        time_limit=options["time_limit"],
        endgame=options["endgame"],
        name=_own_name(name),
    )


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.search.feature_evaluation import evaluation_path

    named = _agent_name(name, run_dir)
    if named is None:
        return [evaluation_path(name.options["evaluation"])]
    files = files_of(named, run_dir)
    fitted = [file.with_name(PROBCUT_FILE) for file in files] if "probcut" in name.given else []
    return [*files, *filter(Path.exists, fitted)]


def _agent_name(name: PlayerName, run_dir: Path) -> PlayerName | None:
    """The learned agent in the option evaluation; None if it names an evaluation in a file."""
    from selfplay.search.feature_evaluation import known_evaluations

    text = name.options["evaluation"]
    return None if text in known_evaluations() else agent_name(text, name, run_dir)


def _network_search(name: PlayerName, agent: "Agent") -> "Player":
    """The player of an agent whose network cannot be compiled: it evaluates the whole tree in batches of positions."""
    from selfplay.search.searcher import ALGORITHMS

    if name.argument not in ALGORITHMS:
        raise SettingError(f"unknown search {name.argument!r}; choose from {', '.join(ALGORITHMS)}")
    if unsupported := [option for option in ("time_limit", "endgame", "probcut") if option in name.given]:
        raise SettingError(f"player {name.text!r}: {unsupported[0]} needs a level with tables (architecture=ntuple...)")
    depth = NETWORK_DEPTH if name.options["depth"] is None else name.options["depth"]
    player = agent.player(depth)
    player.name = _own_name(name)
    return player


def _own_name(name: PlayerName) -> str:
    return name.text.removeprefix("search:")


def _algorithms(run_dir: Path) -> str:
    from selfplay.search.searcher import ALGORITHMS

    return f"choose from {', '.join(ALGORITHMS)}"


def _make_greedy_discs(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.feature_evaluation import make_evaluation
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
        Option("probcut", float),
        Option("run_dir"),
    ),
    choices=_algorithms,
    files=_files,
    offers=search_offers,
    place=2,
)
GREEDY_DISCS = PlayerKind(
    "greedy_discs",
    "the most discs after its move, where discs count",
    _make_greedy_discs,
    offers=most_discs_offer,
    place=6,
)
