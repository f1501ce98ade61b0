"""The benchmark that compares the two backups of the experience graph: its table has the figures of the players."""

from tests.support.runs import PROJECT, run_forked

SCRIPT = PROJECT / "benchmarks" / "experience_backups.py"


def test_both_backups_have_a_row_for_each_seed_with_the_figures_of_their_players() -> None:
    done = run_forked(SCRIPT, "--seeds", "1", "--matches", "30")
    assert (done.returncode, done.stderr) == (0, "")
    title, _, header, _, *rows = done.stdout.splitlines()
    assert title == "after 30 matches"
    assert header.startswith(
        "| backup | seed | boards | exact win | draw | loss v random | lost lines first | second |"
    )
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[:2] for row in cells] == [[name, seed] for name in ("absolute", "minimax") for seed in "0"]
    for row in cells:
        assert 100 < int(row[2]) < 300
        assert abs(sum(map(float, row[3:6])) - 1) < 0.0002
        assert all(" of " in lines for lines in row[6:])
    # The first match of each pair is played without knowledge; the backups differ after it.
    assert cells[0][2:] != cells[1][2:]
