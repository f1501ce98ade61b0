"""Fit ProbCut for a level: how well its shallow searches predict its deep ones.

python train/fit_probcut.py --help   (the same as selfplay fit-probcut)
"""

import project_environment

from selfplay.cli.programs.fit_probcut import main

if __name__ == "__main__":
    main()
