"""Write the experience graph as JSON.

python train/export_experience.py --help   (the same as selfplay export-experience)
"""

import project_environment

from selfplay.cli.programs.export_experience import main

if __name__ == "__main__":
    main()
