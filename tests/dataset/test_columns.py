"""The schema of datasets, compared with the docs and the rows."""

from selfplay.dataset.rows import COLUMNS, NUMBERS, OBSERVATION, POLICY, Rows, csv_schema, parquet_schema
from tests.support.runs import PROJECT


def docs_table() -> str:
    """The table of the columns in docs/files.md, in Markdown."""
    names = {OBSERVATION.name: "`v0`, `v1`, ...", POLICY.name: "`p0`, `p1`, ..."}
    lines = [
        f"| {names.get(column.name, f'`{column.name}`')} | {column.dtype}, {column.allowed} | {column.meaning} |"
        for column in (*COLUMNS, POLICY)
    ]
    return "\n".join(["| column | type and values | meaning |", "|---|---|---|", *lines])


def test_the_docs_list_exactly_these_columns():
    docs = (PROJECT / "docs" / "files.md").read_text(encoding="utf-8")
    assert f"\n\n{docs_table()}\n\n" in docs, "paste docs_table() into docs/files.md"


def test_rows_have_a_field_for_each_column():
    assert {column.name for column in (*NUMBERS, POLICY)} == set(Rows._fields) - {"own", "opp"}


def test_both_formats_have_the_columns_in_the_same_order():
    assert csv_schema(2).names == ["match", "ply", "v0", "v1", "target"]
    assert parquet_schema(2).names == ["match", "ply", "observation", "target"]


def test_policies_follow_the_other_columns():
    assert csv_schema(1, 3).names == ["match", "ply", "v0", "target", "p0", "p1", "p2"]
    assert parquet_schema(2, 3).names == ["match", "ply", "observation", "target", "policy"]
