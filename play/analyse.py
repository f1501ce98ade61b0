"""Compare minimax, alpha-beta and NegaScout in one position: results, positions visited, and the evaluation.

python play/analyse.py moves=f5d6c3 depth=6
python play/analyse.py moves=f5d6c3 depth=8 searches=[alpha_beta,negascout] ordered=true table_bits=18
python play/analyse.py moves=f5d6c3 depth=3 picture.file=tree.png
python play/analyse.py game_tree=article picture.file=tree.png
python play/analyse.py 'game_tree.payoffs=[[3,5],[[2,9],0]]'
python play/analyse.py game=tictactoe evaluation=none depth=9 'moves=5 1'
"""

import project_environment

from selfplay.cli.command import command_of
from selfplay.settings.analysis import AnalysisSettings


def show(settings: AnalysisSettings) -> None:
    from selfplay.playing.analysis import analyse, analysis_report

    print(analysis_report(analyse(settings)))


if __name__ == "__main__":
    command_of(AnalysisSettings, "analysis", show, run="read")
