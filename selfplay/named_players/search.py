"""`search:ALGORITHM`: looking ahead, and `greedy_discs`, which looks one ply ahead for discs."""

from pathlib import Path
from typing import Any

from selfplay.agents.agent import Agent
from selfplay.errors import SettingError
from selfplay.files import sha256
from selfplay.games import Game, name_of_game
from selfplay.named_players.agents import agent_name, make_agent
from selfplay.named_players.evaluations import (
    EVALUATIONS,
    evaluation_path,
    is_own,
    known_evaluations,
    make_evaluation,
    own_evaluation,
)
from selfplay.named_players.make import files_of_player
from selfplay.named_players.names import ITSELF, PlayerName, options_of, player_kind
from selfplay.players.player import Player
from selfplay.players.search import SearchPlayer, SearchPlayerParameters
from selfplay.runs.command_lines import command_for
from selfplay.runs.run_folder import PROBCUT_FILE
from selfplay.search.evaluation import Evaluation
from selfplay.search.negamax import ALGORITHMS
from selfplay.search.probcut import Probing, read_probcut
from selfplay.search.searcher import Searcher

DEPTH, NETWORK_DEPTH = 4, 2
"""Plies to look ahead by default: in compiled searches, and with a network, which evaluates the whole tree."""


def _files(name: PlayerName, run_dir: Path) -> list[Path]:

    named = _agent_name(name)
    if named is None:
        evaluation = name.options["evaluation"]
        return [] if is_own(evaluation, EVALUATIONS) else [evaluation_path(evaluation)]
    files = files_of_player(named, run_dir)
    fitted = [file.with_name(PROBCUT_FILE) for file in files] if "probcut" in name.given else []
    return [*files, *filter(Path.exists, fitted)]


def _agent_name(name: PlayerName) -> PlayerName | None:
    """The learned agent in the option evaluation; None if it names an evaluation in a file."""
    is_default = name.itself is not None and "evaluation" not in name.given
    text = ITSELF if is_default else name.options["evaluation"]
    return None if text in known_evaluations() else agent_name(text, name)


def _network_search(name: PlayerName, agent: Agent) -> Player:
    """The player of an agent whose network cannot be compiled: it evaluates the whole tree in batches of positions."""
    if name.argument not in ALGORITHMS:
        raise SettingError(f"unknown search {name.argument!r}; choose from {', '.join(ALGORITHMS)}")
    if unsupported := [option for option in ("time_limit", "endgame", "slack", "probcut") if option in name.given]:
        raise SettingError(f"player {name.text!r}: {unsupported[0]} needs a level with tables (architecture=ntuple...)")
    depth = NETWORK_DEPTH if name.options["depth"] is None else name.options["depth"]
    player = agent.player(depth)
    player.name = _own_name(name)
    return player


def _own_name(name: PlayerName) -> str:
    return name.text.removeprefix("search:")


@player_kind("search:ALGORITHM", files=_files, more=options_of(SearchPlayerParameters))
def search(
    game: Game,
    name: PlayerName,
    *,
    depth: int | None = None,
    evaluation: str = "none",
    probcut: float | None = None,
    run_dir: Path,
    **searching: Any,
) -> Player:
    """minimax, alpha_beta or negascout, looking ahead

    Args:
        depth: plies to look ahead; null: 4, or 2 with a network, which evaluates the whole tree
        evaluation: how positions are valued: level:L, pretrained, a file of conf/evaluation/ by its name, PATH.yaml, or
            module:rule of your own; none: only the ends of matches count
        probcut: threshold of ProbCut, in standard deviations (1.5 is usual); needs a learned agent to which
            `selfplay fit-probcut` was fitted
    """
    named, fitted = _agent_name(name), None
    if named is None:
        if probcut is not None:
            raise SettingError(f"player {name.text!r}: probcut needs evaluation=level:L or evaluation=pretrained")
        make = own_evaluation if is_own(evaluation, EVALUATIONS) else make_evaluation
        evaluated: Evaluation = make(evaluation, game)
    else:
        agent = make_agent(named, game, run_dir)
        if (learned := agent.evaluation()) is None:
            return _network_search(name, agent)
        evaluated = learned
        if probcut is not None:
            fitted = _probing(agent, probcut, name.text)
    parameters = SearchPlayerParameters(**searching)
    searcher = Searcher(game, evaluated, name.argument, parameters, fitted)
    return SearchPlayer(searcher, DEPTH if depth is None else depth, parameters, _own_name(name))


@player_kind("greedy_discs")
def greedy_discs(game: Game, name: PlayerName) -> Player:
    """the most discs after its move, where discs count"""
    if game.features is None:
        raise SettingError(f"player {name.text!r}: {game.name} has no features; choose another player, such as random")
    return SearchPlayer(Searcher(game, make_evaluation("discs", game)), 1, name=name.text)


def _probing(agent: Agent, threshold: float, player: str) -> Probing:
    """ProbCut with the parameters that were fitted to a learned agent, for the player with this name.

    Raises:
        SettingError: none were fitted, or only to earlier weights; the agent has no file; or the threshold is not above
            0.
        InvalidFileError: their file is broken.
    """
    if agent.path is None:
        raise SettingError(f"player {player!r}: probcut needs evaluation=level:L or evaluation=pretrained")
    path, game, metadata = agent.path.with_name(PROBCUT_FILE), name_of_game(agent.game), agent.checkpoint.metadata
    outside = [str(name) for name in (metadata["architecture"]["name"], metadata["outcome"]) if ":" in str(name)]
    modules, run_dir = [name.partition(":")[0] for name in outside], agent.path.parent.parent
    fit = "run " + command_for("fit-probcut", game, run_dir, f"level={metadata['level']}", modules=modules)
    if not path.exists():
        raise SettingError(f"player {player!r}: probcut was not fitted to this agent; {fit}")
    parameters = read_probcut(path)
    if parameters.agent_sha256 != sha256(agent.path):
        raise SettingError(f"player {player!r}: {path} was fitted to other weights; {fit} again")
    return parameters.probing(threshold)
