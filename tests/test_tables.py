"""The tables of comparisons, tournaments and proofs: writing, reading, and docs/tables.md."""

import re
from pathlib import Path

import pytest

from selfplay.games import make_game
from selfplay.grading.comparison import level_columns, reference_columns
from selfplay.grading.mistakes import MISTAKE_COLUMNS
from selfplay.grading.ratings import MATCH_COLUMNS, PLAYER_COLUMNS
from selfplay.grading.winning_proof.report import PLY_COLUMNS, PROOF_COLUMNS
from selfplay.runs.kept_positions import position_columns
from selfplay.stages.tournament_pairs import PAIR_COLUMNS
from selfplay.tables import COUNT, LINES, PROBABILITY, RATING, SHARE, TEXT, Columns, data_frame, read_rows
from tests.support.rejections import assert_file_rejected
from tests.support.runs import PROJECT

OF_POSITIONS = position_columns(make_game("othello"))
KIND = "a table of moves; write it again"
COLUMNS = {"player": TEXT, "seconds": SHARE, "nodes": COUNT, "sum": LINES}


@pytest.mark.parametrize("large", [10**30, 2**53 + 1])
def test_a_table_is_read_back_as_it_was_written(tmp_path: Path, large: int) -> None:
    rows = [{"player": "a", "seconds": 0.5, "sum": large}, {"player": "b", "nodes": 7, "sum": 3}, {"player": "c"}]
    data_frame(COLUMNS, rows).to_csv(tmp_path / "x.csv", index=False)
    assert (tmp_path / "x.csv").read_text() == f"player,seconds,nodes,sum\na,0.5,,{large}\nb,,7,3\nc,,,\n"
    assert read_rows(tmp_path / "x.csv", COLUMNS, KIND) == [dict.fromkeys(COLUMNS) | row for row in rows]


def test_columns_that_no_row_mentions_are_not_written() -> None:
    assert list(data_frame(COLUMNS, [{"nodes": 1, "player": "a", "other": 2}, {"sum": None}])) == [
        "player",
        "nodes",
        "sum",
    ]


def test_fractions_are_rounded_alike_whichever_way_they_were_added() -> None:
    halfway = 1 / 128
    rows = [{"share": x, "rating": x} for x in (halfway - 1e-17, halfway, halfway + 1e-17, 1 / 3, -1e-16)]
    assert data_frame({"share": SHARE, "rating": RATING}, rows).to_csv(index=False).splitlines()[1:] == [
        *["0.007812,0.01"] * 3,
        "0.333333,0.33",
        "0.0,0.0",
    ]


def test_probabilities_are_only_0_or_1_if_they_are_exactly_that() -> None:
    rows = [{"p": x} for x in (0.0, 1e-30, 1.2345678e-9, 1 / 3, 1 - 1e-9, 1.0, 0.9999999999999999)]
    written = data_frame({"p": PROBABILITY}, rows).to_csv(index=False).split()
    assert written == ["p", "0.0", "1e-30", "1.235e-09", "0.333333", "0.999999999", "1.0", "1.0"]


def test_columns_that_a_file_does_not_have_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("player,other\na,x\n")
    assert read_rows(tmp_path / "x.csv", COLUMNS, KIND) == [{"player": "a"}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is cut off"),
        ("player,seconds\na\n", "a row has 1 fields, not 2"),
        ("player,seconds\na,nan\n", "nan is not a finite number"),
        ("player,nodes\na,99999999999999999999\n", "99999999999999999999 has more than 64 bits"),
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
        *(level_columns(), MATCH_COLUMNS, reference_columns(), MISTAKE_COLUMNS),
        *({name: kind for name, kind in OF_POSITIONS.items() if name != "group"}, OF_POSITIONS),
        *(PROOF_COLUMNS, PLY_COLUMNS, PAIR_COLUMNS, PLAYER_COLUMNS),
    ],
)
def test_the_docs_list_exactly_these_columns(columns: Columns) -> None:
    docs = (PROJECT / "docs" / "tables.md").read_text(encoding="utf-8")
    found = [re.findall(r"^- ((?:`\w+`,\s+)*`\w+`):", items, re.MULTILINE) for items in docs.split("\n\n")]
    assert list(columns) in [re.findall(r"`(\w+)`", " ".join(names)) for names in found]
