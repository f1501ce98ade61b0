"""Columns of tables: writers, readers and docs/tables.md follow from their declarations."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from selfplay.grading.comparison_columns import LEVEL_COLUMNS, MATCH_COLUMNS, REFERENCE_COLUMNS, SWEEP_COLUMNS
from selfplay.grading.endgame_positions import ENDGAME_COLUMNS
from selfplay.grading.finished_runs import LINES, NEEDED
from selfplay.grading.judged_positions import POSITION_COLUMNS
from selfplay.grading.judgement import GROUP_COLUMNS
from selfplay.grading.table_columns import Column, meanings, names, read_rows, table_of
from selfplay.grading.tournament_tables import EXACT_PLAYER_COLUMNS, PAIR_COLUMNS, PLAYER_COLUMNS
from selfplay.grading.winning_proof.columns import PLY_COLUMNS, PROOF_COLUMNS
from tests.support.rejections import assert_file_rejected
from tests.support.runs import PROJECT

KIND = "a table of moves; write it again"


class Move(NamedTuple):
    player: str
    seconds: float | None
    nodes: int | None


COLUMNS = (
    Column("player", "who moves", lambda move: move.player, str),
    Column("seconds", "time", lambda move: move.seconds),
    Column("nodes", "positions visited", lambda move: move.nodes, int),
    Column("sum", "positions visited", lambda move: 10**30, int, exceeds_64_bits=True),
)


def markdown_table(meanings: Mapping[str, str]) -> str:
    """The table in docs/tables.md: neighbouring columns with the same meaning share a row."""
    lines = ["| column | meaning |", "|---|---|"]
    for meaning, group in groupby(meanings, key=meanings.__getitem__):
        lines.append(f"| {', '.join(f'`{name}`' for name in group)} | {meaning} |")
    return "\n".join(lines)


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    table_of(COLUMNS, [Move("a", 0.5, None), Move("b", None, 7)]).to_csv(tmp_path / "x.csv", index=False)
    assert (tmp_path / "x.csv").read_text() == f"player,seconds,nodes,sum\na,0.5,,{10**30}\nb,,7,{10**30}\n"
    assert read_rows(tmp_path / "x.csv", COLUMNS, KIND) == [
        {"player": "a", "seconds": 0.5, "nodes": None, "sum": 10**30},
        {"player": "b", "seconds": None, "nodes": 7, "sum": 10**30},
    ]


def test_fractions_are_rounded_alike_whichever_way_they_were_added() -> None:
    share, rating = Column("share", "", float), Column("rating", "", float, decimals=2)
    halfway = 1 / 128
    rows = [halfway - 1e-17, halfway, halfway + 1e-17, 1 / 3, -1e-16]
    assert table_of([share, rating], rows).to_csv(index=False).splitlines()[1:] == [
        *["0.007812,0.01"] * 3,
        "0.333333,0.33",
        "0.0,0.0",
    ]


def test_columns_that_a_file_does_not_have_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("player,other\na,x\n")
    assert read_rows(tmp_path / "x.csv", COLUMNS, KIND) == [{"player": "a"}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is cut off"),
        ("player,seconds\na\n", "a row has 1 fields, not 2"),
        ("player,seconds\na,1", "it is cut off"),
        ("player,seconds\na,nan\n", "seconds is nan"),
        ("player,nodes\na,99999999999999999999\n", "nodes has more than 64 bits"),
        ('player\n"a\n', "unexpected end of data"),
    ],
    ids=lambda text: text[:30],
)
def test_a_damaged_table_is_rejected_in_one_line(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with assert_file_rejected(path, rf"is not a table of moves \(.*{reason}.*\); write it again$"):
        read_rows(path, COLUMNS, KIND)


@pytest.mark.parametrize(
    "columns",
    [
        *map(meanings, (LEVEL_COLUMNS, MATCH_COLUMNS, REFERENCE_COLUMNS, PAIR_COLUMNS, PLAYER_COLUMNS)),
        *map(meanings, (GROUP_COLUMNS, POSITION_COLUMNS)),
        *map(meanings, (PROOF_COLUMNS, PLY_COLUMNS)),
        ENDGAME_COLUMNS,
    ],
)
def test_the_docs_list_exactly_these_columns(columns: dict[str, str]) -> None:
    docs = (PROJECT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert f"\n\n{markdown_table(columns)}\n\n" in docs, "paste markdown_table(columns) into docs/tables.md"


def test_column_names_are_unique_and_readers_ask_for_declared_ones() -> None:
    declared = names(LEVEL_COLUMNS)
    assert len(set(declared)) == len(declared)
    assert {*LINES, *NEEDED, *names(SWEEP_COLUMNS), *names(EXACT_PLAYER_COLUMNS)} <= set(declared)
