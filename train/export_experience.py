"""Write the experience graph as JSON.

python train/export_experience.py json=state_action.json
python train/export_experience.py experience=minimax json=state_action.json
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.stages.experience_files import export_experience

if __name__ == "__main__":
    command_of(ExperienceGraphSettings, "experience_graph", export_experience, run="read")
