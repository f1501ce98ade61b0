"""Replace the experience graph by the boards of a JSON file.

selfplay import-experience json=state_action.json
selfplay import-experience experience=minimax json=state_action.json
"""

from selfplay.cli.command import run_program
from selfplay.settings.experience import ExperienceGraphSettings


def import_graph(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.experience import import_experience

    import_experience(settings)


def main() -> None:
    run_program(import_graph, ExperienceGraphSettings, "experience_graph", run="read")
