"""Play in a terminal against a level of a run or any other player, which shows its values; or watch two players.

python play/console.py --help   (the same as selfplay play)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("play")
