"""Play against a level of a run or any other player, which shows what it expects of every action.

python play/console.py --level 17
python play/console.py opponent=tabular:outputs/tictactoe/tabular/backward_value.npz
python play/console.py --game sumto100 run_dir=outputs/try
"""

from selfplay.command_line import command
from selfplay.settings import Settings


def play(settings: Settings) -> None:
    from selfplay.console import play_at_console

    play_at_console(settings, input, print)


if __name__ == "__main__":
    command(play, run="read")
