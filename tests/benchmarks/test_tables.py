"""The benchmarks write their tables, with the figures of the players, and name rejected arguments."""

import re
from pathlib import Path

import pytest

from tests.support.runs import PROJECT, TINY, run_forked

THROUGHPUT = PROJECT / "benchmarks" / "throughput.py"
SHORT = ["--games", "tictactoe", "--seconds", "0"]


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
    result = run_forked(THROUGHPUT, *SHORT, *players, *executors, "--batch-sizes", "8", "4")
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    expected = [[player, name, batch] for name in executors[1:3] for player in players[1:] for batch in "48"]
    assert [row[:3] for row in rows] == expected
    for player, _, _, in_batches, whole, csv, parquet in rows:
        assert (whole == "") == (player == "ntuple")
        for cell in (in_batches, csv, parquet, whole or "1"):
            assert_positive(cell)
    best = result.stdout.splitlines()[-1]
    # Rows with the same rounded rate are equally fast.
    rates = {tuple(row[1:3]): row[-1] for row in rows if row[0] == "ntuple"}
    most = max(rates.values(), key=lambda rate: int(rate.replace(",", "")))
    fastest = [place for place, rate in rates.items() if rate == most]
    named = "ntuple, dataset.format=parquet: executor={} batch_size={} ({} per second)"
    assert any(best.endswith(named.format(*place, most)) for place in fastest)


@pytest.mark.slow
def test_rows_trained_on_have_a_column_for_each_precision():
    result = run_forked(THROUGHPUT, "training", *SHORT)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    assert {row[0] for row in rows} == {"tictactoe"}
    assert [rows[0][1], rows[-1][1]] == ["recipe=default", "architecture=ntuple"]
    for cell in [cell for row in rows for cell in row[2:]]:
        assert_positive(cell)


def test_an_unknown_section_is_named():
    result = run_forked(THROUGHPUT, "speed")
    assert result.returncode == 2
    assert "invalid choice: 'speed' (choose from 'memory', 'matches', 'training', 'costs'" in result.stderr


@pytest.mark.slow
def test_every_evaluator_rule_and_batch_has_a_row():
    arguments = ["--evaluators", "alphazero_mlp", "--rules", "puct", "gumbel", "--batches", "5"]
    few = ["--game", "tictactoe", "--simulations", "3", "--repeats", "1"]
    # So large that torch evaluates it, in a share of the time.
    few += ["--settings", "architecture.hidden_sizes=[512,512]"]
    result = run_forked(PROJECT / "benchmarks" / "tree_search.py", *arguments, *few)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    assert [row[:3] for row in rows] == [["alphazero_mlp", rule, "5"] for rule in ("puct", "gumbel")]
    for *_, rate, share in rows:
        assert_positive(rate)
        assert share.endswith("%")


def test_seeds_in_the_table_are_not_learned_again(tmp_path):
    table = tmp_path / "seeds.md"
    options = [*TINY, "levels=1", "comparison.matches=20", f"table={table}"]
    first = run_forked(PROJECT / "benchmarks" / "seeds.py", *options, "seeds=4-4")
    assert first.returncode == 0, first.stderr
    rows = table.read_text().splitlines()
    assert [row.split("|")[1].strip() for row in rows] == ["4"]
    assert all(row in first.stdout for row in rows)
    assert "1 seeds\nunbeatable from level: " in first.stdout
    # A row of the file is taken as it is.
    table.write_text("| 4 | 7 0 | 2 | 0.9556 | 1.0000 | 2836 of 2836 |\n")
    again = run_forked(PROJECT / "benchmarks" / "seeds.py", *options, "seeds=4-4")
    assert again.stdout.endswith("1 seeds\nunbeatable from level: 2 x 1\nexact win v random: 0.9556 x 1\n")


@pytest.mark.slow
def test_each_variant_has_a_row_with_its_scores(tmp_path: Path) -> None:
    options = ["--variants", "", "learner.epsilons=[0.9]", "--depths", 1, 2, "--matches", 20, "--opening-plies", 2]
    options += ["--references", "search:negascout?depth=2", "--endgames", 0, "--folder", tmp_path]
    result = run_forked(PROJECT / "benchmarks" / "variants.py", *TINY, "levels=1", *options)
    assert result.returncode == 0, result.stderr
    header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines()]
    assert header == ["variant", "1 ply", "2 plies", "search:negascout?depth=2"]
    assert [row[0] for row in rows] == ["``", "`learner.epsilons=[0.9]`"]
    assert rows[0][1:3] == ["", ""]
    # Level 1 learns from random matches, whatever the exploration rates, so both variants are the same player.
    assert rows[1][1:3] == ["0.500", "0.500"]
    assert 0 <= float(rows[0][3]) == float(rows[1][3]) <= 1


def test_both_backups_have_a_row_for_each_seed_with_the_figures_of_their_players() -> None:
    done = run_forked(PROJECT / "benchmarks" / "experience_backups.py", "--seeds", "1", "--matches", "30")
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
