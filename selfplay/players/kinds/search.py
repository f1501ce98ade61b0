"""`search:ALGORITHM`: looking ahead, and `greedy_discs`, which looks one ply ahead for discs."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.kinds.agents import agent_name, make_agent
from selfplay.players.player_names import PlayerName, files_of_player, player_kind
from selfplay.runs.run_folder import PROBCUT_FILE

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Evaluation

DEPTH, NETWORK_DEPTH = 4, 2
"""Plies to look ahead by default: in compiled searches, and with a network, which evaluates the whole tree."""


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.search.evaluation import evaluation_path

    named = _agent_name(name)
    if named is None:
        return [evaluation_path(name.options["evaluation"])]
    files = files_of_player(named, run_dir)
    fitted = [file.with_name(PROBCUT_FILE) for file in files] if "probcut" in name.given else []
    return [*files, *filter(Path.exists, fitted)]


def _agent_name(name: PlayerName) -> PlayerName | None:
    """The learned agent in the option evaluation; None if it names an evaluation in a file."""
    from selfplay.search.evaluation import known_evaluations

    text = name.options["evaluation"]
    return None if text in known_evaluations() else agent_name(text, name)


def _network_search(name: PlayerName, agent: "Agent") -> "Player":
    """The player of an agent whose network cannot be compiled: it evaluates the whole tree in batches of positions."""
    from selfplay.search.negamax import ALGORITHMS

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


@player_kind("search:ALGORITHM", files=_files)
def search(
    game: "Game",
    name: PlayerName,
    *,
    depth: int | None = None,
    evaluation: str = "none",
    ordered: bool = True,
    table_bits: int = 16,
    time_limit: float | None = None,
    endgame: int = 0,
    probcut: float | None = None,
    run_dir: Path,
) -> "Player":
    """minimax, alpha_beta or negascout, looking ahead"""
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    named, fitted = _agent_name(name), None
    if named is None:
        if probcut is not None:
            raise SettingError(f"player {name.text!r}: probcut needs evaluation=level:L or evaluation=pretrained")
        evaluated: Evaluation = make_evaluation(evaluation, game)
    else:
        agent = make_agent(named, game, run_dir)
        if (learned := agent.evaluation()) is None:
            return _network_search(name, agent)
        evaluated = learned
        if probcut is not None:
            fitted = agent.probcut(probcut, name.text)
    return SearchPlayer(
        Searcher(game, evaluated, name.argument, ordered=ordered, table_bits=table_bits, probcut=fitted),
        DEPTH if depth is None else depth,
        time_limit=time_limit,
        endgame=endgame,
        name=_own_name(name),
    )


@player_kind("greedy_discs")
def greedy_discs(game: "Game", name: PlayerName) -> "Player":
    """the most discs after its move, where discs count"""
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    if game.features is None:
        raise SettingError(f"player {name.text!r}: {game.name} has no features; choose another player, such as random")
    return SearchPlayer(Searcher(game, make_evaluation("discs", game)), 1, name=name.text)
