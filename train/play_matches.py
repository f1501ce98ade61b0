"""Play matches between two players, with running counts. Players that learn from matches do so.

python train/play_matches.py --help   (the same as selfplay play-matches)
"""

import project_environment

from selfplay.cli.programs.play_matches import main

if __name__ == "__main__":
    main()
