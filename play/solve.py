"""Solve a position of Othello (near the end of the match) or Connect Four: one line per move with its exact score.

python play/solve.py --help   (the same as selfplay solve)
"""

import project_environment

from selfplay.cli.programs.solve import main

if __name__ == "__main__":
    main()
