"""`experience[:PATH]`: the player that uses the experience graph."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import OfferedPlayer, OfferLimits
from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player

RULE = (Option("backup", str, "absolute"), Option("discount", float, 0.9), Option("canonical", bool, False))


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.experience import load_experience_player
    from selfplay.settings.classical import ExperienceRule

    rule = None
    if any(option.name in name.given for option in RULE):
        rule = ExperienceRule(*(name.options[option.name] for option in RULE))
    return load_experience_player(_path(name, run_dir), game, rule, learns=name.options["learn"])


def _path(name: PlayerName, run_dir: Path) -> Path:
    return Path(name.argument) if name.argument else run_dir / "experience.sqlite"


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    from selfplay.players.experience import load_experience_player

    for path in sorted(run_dir.glob("experience*.sqlite")):
        yield OfferedPlayer(
            f"memory-{path.stem}",
            "experience",
            path.stem.replace("_", " ").capitalize(),
            "remembers every board it has met, and learns from your matches",
            partial(load_experience_player, path, game),
            file=path,
            learns=True,
        )


KIND = PlayerKind(
    "experience[:PATH]",
    "the experience graph stored in this file or in run_dir/experience.sqlite; it learns from its matches",
    _make,
    (Option("learn", bool, True), *RULE),
    files=lambda name, run_dir: [_path(name, run_dir)],
    offers=_offers,
    place=5,
)
