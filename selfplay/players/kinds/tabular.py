"""`tabular:PATH`: the tables of a tabular learner."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.tabular import load_tabular_player

    return load_tabular_player(Path(name.argument), positions_of(game.name))


def _tables(run_dir: Path) -> str:
    folder = run_dir / "tabular"
    tables = [str(path) for path in sorted(folder.glob("*.npz"))]
    return f"there are {', '.join(tables)}" if tables else f"there are no tables in {folder} yet"


KIND = PlayerKind("tabular:PATH", "the tables that train/train_tabular.py wrote to this file", _make, choices=_tables)
