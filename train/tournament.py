"""Play a round robin: a cross-table, ratings on one scale, exact results and a heat map.

python train/tournament.py --help   (the same as selfplay tournament)
"""

import project_environment

from selfplay.cli.programs.tournament import main

if __name__ == "__main__":
    main()
