"""Learn with several seeds and grade every level exactly: from which level on is each run proved unbeatable?

python benchmarks/seeds.py
python benchmarks/seeds.py recipe=sumto100 seeds=0-4 folder=outputs/seeds
python benchmarks/seeds.py seeds=0-99 table=outputs/seeds.md

Prints a Markdown table, a row per seed, and how many seeds have each result. All arguments except `seeds`, `folder` and
`table` are settings of the runs. Runs are kept in `folder` and resumed there; without `folder` each is deleted once it
is graded. Rows are appended to the file `table`; seeds that it has already are not learned again.
"""

import project_environment

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from selfplay import Grade, Grader, compose_settings, enumerate_positions, learn_levels, load_level, make_game
from selfplay.cli.entry import reporting_errors
from selfplay.progress import progress_bar


def grades_of_run(overrides: list[str], seed: int, folder: Path) -> tuple[Grader, list[Grade]]:
    """The grades of levels 1, 2, … of the run with this seed, which is learned first if it does not exist."""
    settings = compose_settings([*overrides, f"seed={seed}", f"run_dir={folder / f'seed_{seed}'}"])
    learn_levels(settings, progress_bar)
    grader = Grader(enumerate_positions(make_game(settings.game.name)))
    levels = range(1, settings.levels + 1)
    return grader, [grader.grade(load_level(settings.run_dir, level)) for level in levels]


def lost_lines(grader: Grader, grade: Grade) -> int:
    """Lines lost in the seats in which perfect play never loses."""
    return sum(grade.lines[seat].lost for seat in range(2) if grader.can_hold(seat))


def table_row(seed: int, grader: Grader, grades: list[Grade]) -> str:
    """A row of the table."""
    lost = [lost_lines(grader, grade) for grade in grades]
    losing = [level for level, count in enumerate(lost, start=1) if count]
    since = str(max(losing, default=0) + 1) if lost[-1] == 0 else "never"
    wins = [sum(results.wins for results in grade.versus_random) / 2 for grade in grades]
    missed, winnable = grades[-1].wins_given_away
    cells = [seed, " ".join(map(str, lost)), since, f"{wins[-1]:.4f}", f"{grades[-1].optimal_action_rate:.4f}"]
    return "| " + " | ".join(map(str, [*cells, f"{winnable - missed} of {winnable}"])) + " |"


def rows_of(path: Path | None) -> dict[int, str]:
    """The rows of a table by seed."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return {int(line.split("|")[1]): line for line in lines}


def summary(rows: Iterable[str]) -> str:
    """How many seeds have each first level from which on no line is lost, and each exact share of wins."""
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    lines = [f"{len(cells)} seeds"]
    for title, column in (("unbeatable from level", 3), ("exact win v random", 4)):
        counts = Counter(row[column] for row in cells)
        lines.append(f"{title}: " + ", ".join(f"{value} x {count}" for value, count in sorted(counts.items())))
    return "\n".join(lines)


def main() -> None:
    options = {"seeds": "0-9", "folder": "", "table": ""}
    overrides = []
    for argument in sys.argv[1:]:
        name, _, value = argument.partition("=")
        if name in options:
            options[name] = value
        else:
            overrides.append(argument)
    first, _, last = options["seeds"].partition("-")
    table = Path(options["table"]) if options["table"] else None
    rows = rows_of(table)
    print("| seed | lost lines by level | unbeatable from | exact win v random | optimal | wins taken |")
    print("|---:|---|---:|---:|---:|---:|")
    for seed in range(int(first), int(last or first) + 1):
        if seed not in rows:
            with tempfile.TemporaryDirectory() as scratch:
                rows[seed] = table_row(seed, *grades_of_run(overrides, seed, Path(options["folder"] or scratch)))
            if table is not None:
                with table.open("a") as file:
                    print(rows[seed], file=file)
        print(rows[seed], flush=True)
    print("", summary(rows.values()), sep="\n")


if __name__ == "__main__":
    with reporting_errors():
        main()
