"""Replace the experience graph by the boards of a JSON file.

python train/import_experience.py json=state_action.json
python train/import_experience.py experience=minimax json=state_action.json
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.stages.experience_files import import_experience

if __name__ == "__main__":
    command_of(ExperienceGraphSettings, "experience_graph", import_experience, run="read")
