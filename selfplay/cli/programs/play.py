"""Play in a terminal against a level or any other player; or watch two players.

The opponent shows its values.

selfplay play
selfplay play --level 17 perfect=true
selfplay play opponent=tabular:backward_value verbose=true board=boxed
selfplay play first=human second=perfect
selfplay play first=random second=experience swap=true
selfplay play --game sumto100 run_dir=outputs/try
"""

import sys

from selfplay.cli.command import run_program
from selfplay.settings.playing import PlaySettings


def play(settings: PlaySettings) -> None:
    from selfplay.playing.board_text import supports_colour
    from selfplay.playing.console import play_at_console

    play_at_console(settings, input, print, colour=supports_colour(sys.stdout))


def main() -> None:
    run_program(play, PlaySettings, "play", run="read")
