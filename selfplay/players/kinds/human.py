"""`human`: a person, who can play only at the console and on the web page."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.offers import no_offers
from selfplay.players.player_names import PlayerKind, PlayerName
from selfplay.settings.command_lines import command_line

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    raise SettingError(f"player {name.text!r}: a person can only play with {command_line('play')}")


KIND = PlayerKind("human", "a person, at the console only", _make, offers=no_offers)
