"""Adds the page with each agent that comes with the program to the site of the documentation (a hook of mkdocs)."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from selfplay.players.pretrained import pretrained_agents
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import ExportPageSettings
from selfplay.web.export_page import export_page


def on_post_build(config: MkDocsConfig) -> None:
    """Write play/GAME/ below the folder of the site."""
    for game in pretrained_agents():
        folder = Path(config.site_dir) / "play" / game
        export_page(
            ExportPageSettings(
                run_dir="outputs", game=GameSettings(game), opponent="pretrained", output_dir=str(folder)
            )
        )
