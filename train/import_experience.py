"""Give the machine the boards of a JSON file in the form of the document, in the place of what it knows.

python train/import_experience.py json=state_action.json
python train/import_experience.py experience=minimax json=state_action.json
"""

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings
from selfplay.stages.experience_files import import_experience

if __name__ == "__main__":
    command_of(ExperienceGraphSettings, "experience_graph", import_experience, run="read")
