"""`pretrained`: the agent of a game that comes with the program."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import OfferedPlayer, OfferLimits
from selfplay.players.player_names import Option, PlayerKind, PlayerName
from selfplay.runs.pretrained import pretrained_agent, pretrained_agents
from selfplay.settings.choices import PRETRAINED

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player

SEARCH_DEPTH, SOLVED_EMPTIES = 5, 10
"""Of the search that is offered as an opponent."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    return _agent(name, game, run_dir).player(name.options["depth"], name.options["temperature"])


def _agent(name: PlayerName, game: "Game", run_dir: Path) -> "Agent":
    from selfplay.players.agent import Agent

    return Agent.load(pretrained_agent(game.name), game, PRETRAINED)


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    return list(pretrained_agents().values())


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    from selfplay.players.registry import make_player
    from selfplay.runs.run_folder import RunFolder

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


KIND = PlayerKind(
    PRETRAINED,
    "the agent that comes with the program, for some games",
    _make,
    (Option("depth", int, 1), Option("temperature", float, 0.0)),
    files=_files,
    agent=_agent,
    offers=_offers,
    place=1,
)
