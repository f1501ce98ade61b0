"""Compare the two backups of the experience graph, absolute and minimax, seed by seed, as a Markdown table.

    python benchmarks/experience_backups.py
    python benchmarks/experience_backups.py --seeds 1 --matches 20000

Each player learns from its matches against the random player, in alternating seats, as in `selfplay play-matches
first=random second=experience seed=SEED`. Each row shows the number of known boards, the exact probabilities against
the random player over both seats, and how many lines it loses in each seat when every reply is tried.
"""

import project_environment

import argparse
import tempfile
from pathlib import Path

from selfplay import play_matches
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.experience.graph import BACKUPS
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.games.position_graph import positions_of
from selfplay.games.win_draw_loss import mean_of_seats
from selfplay.grading.proof import FIRST, SECOND, Grader
from selfplay.players.experience import ExperiencePlayer
from selfplay.players.player import RandomPlayer


def print_row(grader: Grader, backup: str, seed: int, matches: int) -> None:
    """Learn from the matches and print a row of the table."""
    game, key = grader.graph.game, stream_key(seed, 0, Activity.NAMED_PLAYERS)
    with tempfile.TemporaryDirectory() as folder:
        store = ExperienceStore(Path(folder) / "experience.sqlite", game, ExperienceRule(backup=backup))
        player = ExperiencePlayer(store)
        for _ in play_matches(game, (RandomPlayer(game), player), range(matches), key):
            pass
        grade, boards = grader.grade(player), len(store)
        store.close()
    win, draw, loss = mean_of_seats(*grade.versus_random)
    first, second = (f"{grade.lines[seat].lost:,} of {grade.lines[seat].total:,}" for seat in (FIRST, SECOND))
    print(f"| {backup} | {seed} | {boards:,} | {win:.4f} | {draw:.4f} | {loss:.4f} | {first} | {second} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--matches", type=int, default=5_000)
    options = parser.parse_args()
    grader = Grader(positions_of("tictactoe"))
    print(f"after {options.matches:,} matches\n")
    print("| backup | seed | boards | exact win | draw | loss v random | lost lines first | second |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for backup in BACKUPS:
        for seed in range(options.seeds):
            print_row(grader, backup, seed, options.matches)


if __name__ == "__main__":
    main()
