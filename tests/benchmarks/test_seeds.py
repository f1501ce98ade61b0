"""benchmarks/seeds.py learns each seed once and counts the results."""

from tests.support.runs import PROJECT, TINY, run_forked

SCRIPT = PROJECT / "benchmarks" / "seeds.py"


def test_seeds_in_the_table_are_not_learned_again(tmp_path):
    table = tmp_path / "seeds.md"
    options = [*TINY, "levels=1", "comparison.matches=20", f"table={table}"]
    first = run_forked(SCRIPT, *options, "seeds=4-4")
    assert first.returncode == 0, first.stderr
    rows = table.read_text().splitlines()
    assert [row.split("|")[1].strip() for row in rows] == ["4"]
    assert all(row in first.stdout for row in rows)
    assert "1 seeds\nunbeatable from level: " in first.stdout
    # A row of the file is taken as it is.
    table.write_text("| 4 | 7 0 | 2 | 0.9556 | 1.0000 | 2836 of 2836 |\n")
    again = run_forked(SCRIPT, *options, "seeds=4-4")
    assert again.stdout.endswith("1 seeds\nunbeatable from level: 2 x 1\nexact win v random: 0.9556 x 1\n")
