"""Compare minimax, alpha-beta and NegaScout in one position.

Shows their results, the positions that they visit, and the evaluation.

selfplay analyse moves=f5d6c3 depth=6
selfplay analyse moves=f5d6c3 depth=8 searches=[alpha_beta,negascout] ordered=true table_bits=18
selfplay analyse moves=f5d6c3 depth=3 picture.file=tree.png
selfplay analyse game_tree=article picture.file=tree.png
selfplay analyse 'game_tree.payoffs=[[3,5],[[2,9],0]]'
selfplay analyse 'features={discs: 30, corners: 2, stable: 5, mobility: 15}'
selfplay analyse game=tictactoe evaluation=none depth=9 'moves=5 1'
"""

from selfplay.cli.command import run_program
from selfplay.settings.analysis import AnalysisSettings


def show(settings: AnalysisSettings) -> None:
    from selfplay.playing.analysis import analyse, analysis_report, features_report

    print(features_report(settings) if settings.features else analysis_report(analyse(settings)))


def main() -> None:
    run_program(show, AnalysisSettings, "analysis", run="read")
