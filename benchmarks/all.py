"""Run the measurements behind the figures of docs/ again, and keep what each prints.

    python benchmarks/all.py --quick
    python benchmarks/all.py speed --folder outputs/measurements

Each command is that of its page, and its output becomes a file of the folder, headed by the command, the machine and
the date. `--quick` makes each as short as shows that it works, a quarter of an hour on two cores; its figures are too
noisy to publish. Measurements that train an agent for hours are left out: `benchmarks/pretrained.py`,
`strength_by_time.py` and `seeds.py` have commands of their own. The program ends with 1 if one of them fails.
"""

import project_environment

import argparse
import shlex
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

from search import machine


class Measurement(NamedTuple):
    """A program of this folder that measures something."""

    name: str
    """Of its file of output."""
    command: str
    quick: str
    """The command that takes seconds in place of minutes."""


MEASUREMENTS = {
    "speed": [
        Measurement(
            "matches",
            "throughput.py --seconds 1",
            "throughput.py --games tictactoe --players random --executors serial",
        ),
        Measurement(
            "training",
            "throughput.py training costs --games tictactoe othello --repeats 3",
            "throughput.py training costs --games tictactoe",
        ),
        Measurement("self_play", "throughput.py self_play --together 32", "throughput.py self_play --together 8"),
        Measurement("rollouts", "throughput.py search", "throughput.py search --games tictactoe"),
        Measurement("tree_search", "tree_search.py", "tree_search.py --batches 1 64 --simulations 50 --repeats 1"),
        Measurement("othello_search", "search.py", "search.py perft matches --repeats 1"),
        Measurement("probcut", "probcut.py searches", "probcut.py searches --depths 6 --positions 4"),
        Measurement("connect_four", "connect_four.py", "connect_four.py groups --groups end-easy --repeats 1"),
        Measurement("cold_start", "cold_start.py", "cold_start.py games=tictactoe"),
        Measurement(
            "page", "web.py game=connect_four opponent=medium", "web.py game=tictactoe opponent=easy matches=20"
        ),
    ],
    "results": [
        Measurement("agents", "agents.py", "agents.py breakthrough_6x6 --quick"),
        Measurement("strengths", "strengths.py", "strengths.py tictactoe connect_four --matches 10"),
        Measurement("false_labels", "false_labels.py", "false_labels.py hex_4x4 --matches 1 --others 0"),
        Measurement(
            "othello",
            "strength.py search:negascout?depth=4&evaluation=article",
            "strength.py search:negascout?depth=2&evaluation=article --matches 4 --opponents random",
        ),
        Measurement("probcut_matches", "probcut.py matches", "probcut.py matches --pairs 4:1.5,3 --matches 4"),
        Measurement("breakthrough", "breakthrough.py", "breakthrough.py"),
        Measurement(
            "alpha_beta",
            "breakthrough_alpha_beta.py strongest",
            "breakthrough_alpha_beta.py strongest --size 6 --depth 1 --matches 2",
        ),
        Measurement("open_threes", "open_threes.py hard strongest", "open_threes.py hard --positions 4"),
        Measurement("tabular", "tabular_seeds.py", "tabular_seeds.py --seeds 1"),
        Measurement("experience", "experience_backups.py", "experience_backups.py --seeds 1 --matches 200"),
    ],
    "exported_page": [
        Measurement(
            "exported_strengths",
            "exported_strengths.py",
            "exported_strengths.py connect_four --depths 2 3 --positions 2",
        ),
    ],
}
"""By the page of docs/ that has the figures."""


def measure(measurement: Measurement, command: str, file: Path) -> bool:
    """Run a command and write what it prints. Returns whether it succeeded."""
    print(f"python benchmarks/{command}", flush=True)
    began = time.perf_counter()
    arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name(arguments[0]), *arguments[1:]], capture_output=True, text=True
    )
    heading = f"# {measurement.name}\n\n    python benchmarks/{command}\n\n{machine()}, {date.today()}\n\n"
    file.write_text(heading + done.stdout + (f"\n{done.stderr}" if done.returncode else ""))
    outcome = "measured" if done.returncode == 0 else f"FAILED ({done.returncode})"
    print(f"  {outcome} in {time.perf_counter() - began:.0f} s: {file}", flush=True)
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", choices=[*MEASUREMENTS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="only show that each works")
    parser.add_argument("--folder", type=Path, default=Path("outputs/measurements"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    succeeded = [
        measure(one, one.quick if options.quick else one.command, options.folder / f"{one.name}.md")
        for page in options.pages or MEASUREMENTS
        for one in MEASUREMENTS[page]
    ]
    sys.exit(0 if all(succeeded) else 1)


if __name__ == "__main__":
    main()
