"""Compare minimax, alpha-beta and NegaScout in one position: results, positions visited, and the evaluation.

python play/analyse.py --help   (the same as selfplay analyse)
"""

import project_environment

from selfplay.cli.programs.analyse import main

if __name__ == "__main__":
    main()
