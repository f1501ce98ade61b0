"""Play a round robin: a cross-table, ratings, exact results and a heat map.

selfplay tournament players=[random,perfect,level:10,tabular:backward_value]
selfplay tournament 'players=[random,level:10,level:10?depth=2]' matches=2000 run_dir=outputs/try
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.matches import TournamentSettings


def play(settings: TournamentSettings) -> None:
    from selfplay.grading.tournament_report import tournament_report
    from selfplay.stages.tournament import play_tournament

    print(f"\n{tournament_report(play_tournament(settings, progress_bar))}")


def main() -> None:
    run_program(play, TournamentSettings, "tournament")
