"""Play tic-tac-toe with the experience graph: you against it, the random player against it, or it against itself.

python play/experience.py --help   (the same as selfplay play-experience)
"""

import project_environment

from selfplay.cli.programs.play_experience import main

if __name__ == "__main__":
    main()
