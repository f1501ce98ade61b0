"""Write the experience graph as JSON.

selfplay export-experience json=state_action.json
selfplay export-experience experience=minimax json=state_action.json
"""

from selfplay.cli.command import command_of
from selfplay.settings.experience import ExperienceGraphSettings


def export_graph(settings: ExperienceGraphSettings) -> None:
    from selfplay.stages.experience_files import export_experience

    export_experience(settings)


def main() -> None:
    command_of(ExperienceGraphSettings, "experience_graph", export_graph, run="read")
