"""benchmarks/variants.py learns variants of a recipe and compares their last levels."""

from pathlib import Path

from tests.support.runs import PROJECT, TINY, run_forked

SCRIPT = PROJECT / "benchmarks" / "variants.py"


def test_each_variant_has_a_row_with_its_scores(tmp_path: Path) -> None:
    options = ["--variants", "", "epsilons=[0.9]", "--depths", 1, 2, "--matches", 20, "--opening-plies", 2]
    options += ["--references", "search:negascout?depth=2", "--endgames", 0, "--folder", tmp_path]
    result = run_forked(SCRIPT, *TINY, "levels=1", *options)
    assert result.returncode == 0, result.stderr
    header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines()]
    assert header == ["variant", "1 ply", "2 plies", "search:negascout?depth=2"]
    assert [row[0] for row in rows] == ["``", "`epsilons=[0.9]`"]
    assert rows[0][1:3] == ["", ""]
    # Level 1 learns from random matches, whatever the exploration rates, so both variants are the same player.
    assert rows[1][1:3] == ["0.500", "0.500"]
    assert 0 <= float(rows[0][3]) == float(rows[1][3]) <= 1
