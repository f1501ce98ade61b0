"""Fit ProbCut for a level: how well its shallow searches predict its deep ones.

selfplay fit-probcut --level 20 game=othello
selfplay fit-probcut game=connect_four run_dir=my_run deepest=10 positions=5000

The option probcut of searches then cuts where a shallow search predicts the result:
search:negascout?depth=10&evaluation=level:20&probcut=1.5
"""

from selfplay.cli.command import run_program
from selfplay.settings.evaluation import ProbCutSettings


def fit(settings: ProbCutSettings) -> None:
    from selfplay.stages.fit_probcut import fit_probcut

    fit_probcut(settings)


def main() -> None:
    run_program(fit, ProbCutSettings, "fit_probcut", run="change")
