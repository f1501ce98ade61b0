"""The benchmark of throughput: its tables, and rejected arguments."""

import re

import pytest

from tests.support.runs import PROJECT, run_forked

THROUGHPUT = PROJECT / "benchmarks" / "throughput.py"
TINY = ["--games", "tictactoe", "--seconds", "0"]


def rows_of(output):
    """The cells of all table rows except the headers."""
    lines = output.splitlines()
    rows = [line for line, following in zip(lines, [*lines[1:], ""], strict=True) if not following.startswith("|---")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in rows if re.match(r"\| ", line)]


def assert_positive(cell):
    assert float(cell.replace(",", "")) > 0


@pytest.mark.slow
def test_every_player_executor_and_batch_has_a_row_and_the_best_is_marked():
    players, executors = ["--players", "random", "ntuple"], ["--executors", "serial", "process", "--workers", "1"]
    result = run_forked(THROUGHPUT, *TINY, *players, *executors, "--batch-sizes", "8", "4")
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    expected = [[player, name, batch] for name in executors[1:3] for player in players[1:] for batch in "48"]
    assert [row[:3] for row in rows] == expected
    for player, _, _, in_batches, whole, csv, parquet in rows:
        assert (whole == "") == (player == "ntuple")
        for cell in (in_batches, csv, parquet, whole or "1"):
            assert_positive(cell)
    best = result.stdout.splitlines()[-1]
    fastest = max((row for row in rows if row[0] == "ntuple"), key=lambda row: int(row[-1].replace(",", "")))
    assert best.startswith("Best for tictactoe: random, dataset.format=parquet: executor=")
    assert f"ntuple, dataset.format=parquet: executor={fastest[1]} batch_size={fastest[2]} (" in best


@pytest.mark.slow
def test_rows_trained_on_have_a_column_for_each_precision():
    result = run_forked(THROUGHPUT, "training", *TINY)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    assert {row[0] for row in rows} == {"tictactoe"}
    assert [rows[0][1], rows[-1][1]] == ["recipe=default", "architecture=ntuple"]
    for cell in [cell for row in rows for cell in row[2:]]:
        assert_positive(cell)


def test_an_unknown_section_is_named():
    result = run_forked(THROUGHPUT, "speed")
    assert result.returncode == 2
    assert "unknown section 'speed'; choose from memory, matches, training, costs" in result.stderr
