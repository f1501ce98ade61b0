"""Play in a terminal against a level of a run or any other player, which shows its values; or watch two players.

python play/console.py
python play/console.py --level 17 perfect=true
python play/console.py opponent=tabular:backward_value verbose=true board=boxed
python play/console.py first=human second=perfect
python play/console.py first=random second=experience swap=true
python play/console.py --game sumto100 run_dir=outputs/try
"""

import project_environment

import sys

from selfplay.cli.command import command_of
from selfplay.settings.playing import PlaySettings


def play(settings: PlaySettings) -> None:
    from selfplay.playing.board_text import supports_colour
    from selfplay.playing.console import play_at_console

    play_at_console(settings, input, print, colour=supports_colour(sys.stdout))


if __name__ == "__main__":
    command_of(PlaySettings, "play", play, run="read")
