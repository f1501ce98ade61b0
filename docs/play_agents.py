"""Adds a page for each board with an agent to the site of the documentation (a hook of mkdocs)."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from selfplay.agents.pretrained import find_pretrained
from selfplay.games import game_names
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page


def on_post_build(config: MkDocsConfig) -> None:
    """Write play/GAME/ below the folder of the site."""
    for game in filter(find_pretrained, game_names()):
        folder = Path(config.site_dir) / "play" / game
        export_page(
            ExportPageSettings(
                run_dir="outputs", game=GameSettings(game), opponent="pretrained", output_dir=str(folder)
            )
        )
