"""`level:L`: an agent of a run."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import Offer, Offering, OfferLimits
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.levels import load_level
    from selfplay.players.random import RandomPlayer

    level = whole_number(name.text, name.argument, "the level")
    if level == 0:
        return RandomPlayer(game)
    options = name.options
    folder = options["run_dir"] or run_dir
    return load_level(folder, level, game, depth=options["depth"], temperature=options["temperature"])


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.players.levels import agent_of

    level = whole_number(name.text, name.argument, "the level")
    return [agent_of(name.options["run_dir"] or run_dir, level)] if level else []


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
    from selfplay.players.levels import load_level
    from selfplay.runs.run_folder import RunFolder

    run = RunFolder(run_dir)
    levels = run.trained_levels()
    for level in levels:
        yield Offer(
            f"level-{level}",
            "level",
            f"Level {level}",
            "a network that learned by self-play",
            partial(load_level, run_dir, level, game),
            file=run.agent(level),
            level=level,
            has_fixed_values=True,
            group="Levels of the run",
            number=level,
            is_default=level == levels[-1],
        )


KIND = PlayerKind(
    "level:L",
    "level L of the run in run_dir",
    _make,
    (Option("depth", int, 1), Option("temperature", float, 0.0), Option("run_dir")),
    files=_files,
    offering=Offering(_offers, 1),
)
