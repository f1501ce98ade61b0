"""Draw the known boards of the experience graph that are reachable from a board, with their scores.

python train/draw_experience.py --help   (the same as selfplay draw-experience)
"""

import project_environment

from selfplay.cli.programs.draw_experience import main

if __name__ == "__main__":
    main()
