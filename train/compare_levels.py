"""Measure every level of a run against its predecessor and the random player, and prove which levels cannot lose.

python train/compare_levels.py --help   (the same as selfplay compare)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("compare")
