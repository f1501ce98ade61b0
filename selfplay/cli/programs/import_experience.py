"""Replace the experience graph by the boards of a JSON file.

selfplay import-experience json=state_action.json
selfplay import-experience experience=minimax json=state_action.json
"""

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings


def import_graph(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.experience_files import import_experience

    import_experience(settings)


def main() -> None:
    command_of(ExperienceGraphSettings, "experience_graph", import_graph, run="read")
