"""The benchmark of tree search: a row for each evaluator, rule and batch."""

from tests.benchmarks.test_throughput import assert_positive, rows_of
from tests.support.runs import PROJECT, run_forked


def test_every_evaluator_rule_and_batch_has_a_row():
    arguments = ["--evaluators", "alphazero_mlp", "--rules", "puct", "gumbel", "--batches", "5"]
    few = ["--game", "tictactoe", "--simulations", "3", "--repeats", "1"]
    result = run_forked(PROJECT / "benchmarks" / "tree_search.py", *arguments, *few)
    assert result.returncode == 0, result.stderr
    rows = rows_of(result.stdout)
    assert [row[:3] for row in rows] == [["alphazero_mlp", rule, "5"] for rule in ("puct", "gumbel")]
    for *_, rate, share in rows:
        assert_positive(rate)
        assert share.endswith("%")
