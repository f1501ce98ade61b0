"""Write the experience graph as JSON.

selfplay export-experience json=state_action.json
selfplay export-experience experience=minimax json=state_action.json
"""

from selfplay.cli.command import run_program
from selfplay.settings.experience import ExperienceGraphSettings


def export_graph(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.experience import export_experience

    export_experience(settings)


def main() -> None:
    run_program(export_graph, ExperienceGraphSettings, "experience_graph", run="read")
