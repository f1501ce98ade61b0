"""Replace the experience graph by the boards of a JSON file.

python train/import_experience.py --help   (the same as selfplay import-experience)
"""

import project_environment

from selfplay.cli.programs.import_experience import main

if __name__ == "__main__":
    main()
