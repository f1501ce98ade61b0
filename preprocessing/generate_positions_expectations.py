"""Stage 1: play the matches of a level and write them as (afterstate, expected return) rows to dataset.csv.

python preprocessing/generate_positions_expectations.py --help   (the same as selfplay generate)
"""

import project_environment

from selfplay.cli.entry import run

if __name__ == "__main__":
    run("generate")
