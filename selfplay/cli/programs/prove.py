"""Walk every line of play against a player, and prove that it wins.

If it does not win, the report shows its shortest line to a mistake.

selfplay prove
selfplay prove player=level:14 run_dir=outputs/connect_four seat=second walk=all executor=process
selfplay prove 'player=search:negascout?depth=8&evaluation=level:14&endgame=14'

Run the same command again to resume an interrupted walk.
"""

from selfplay.cli.command import progress_bar, run_program
from selfplay.settings.proof import ProofSettings


def prove(settings: ProofSettings) -> None:
    from selfplay.stages.prove import prove_and_report

    print(f"\n{prove_and_report(settings, progress_bar)}")


def main() -> None:
    run_program(prove, ProofSettings, "prove")
