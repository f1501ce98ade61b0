"""Datasets in CSV: the columns, and broken files."""

import numpy as np
import pytest

from selfplay.dataset.rows import Rows, csv_schema
from selfplay.errors import InvalidFileError
from selfplay.games.observation_codec import BitCodec
from tests.support.dataset_tools import positions_of, read_dataset, write_dataset
from tests.support.rejections import assert_file_rejected

CODEC = BitCodec(np.arange(4), 1)
HEADER = "match,ply,v0,v1,v2,v3,target\n"
GOOD = HEADER + "0,0,1,0,0,0,0.95\n0,1,1,0,0,1,-1\n"


@pytest.fixture
def written(tmp_path):
    """Writes text, or bytes, to a file."""

    def write(content):
        path = tmp_path / "broken.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_file_has_the_documented_columns(tmp_path):
    path = tmp_path / "dataset.csv"
    rows = Rows(
        np.array([0, 0]),
        np.array([0, 1], dtype=np.int32),
        positions_of(np.array([[1, 0, 0, 0], [1, 0, 0, 1]], dtype=np.uint8), CODEC),
        np.array([0.95, -1], dtype=np.float32),
    )
    assert write_dataset(path, [rows], CODEC) == 2
    assert path.read_text() == GOOD
    assert csv_schema(BitCodec(np.arange(18), 1)).names == ["match", "ply", *(f"v{i}" for i in range(18)), "target"]


FIRST_LINE = r"its first line must be match,ply,v0,\.\.\.,v3,target$"
POINT = "written with a point, not a comma$"

BROKEN_FILES = {
    "empty file": ("", "holds no rows"),
    "target 1.5": (GOOD.replace("0.95", "1.5"), "column target of row 1 is 1.5; it must be from -1 to 1"),
    "cut off in a row": (GOOD[:-6], "has no line feed at its end; its last row may be cut off"),
    "a row cut off in the middle": (GOOD.replace(",0,0,1,-1", ""), "Row #3: Expected 7 columns, got 3"),
    "columns of another file": ("a,b\n1,2\n", f"column 1 is 'a', not 'match'; {FIRST_LINE}"),
    "the columns of a larger board": (
        GOOD.replace("target", "v4,target"),
        f"column 7 is 'v4', not 'target'; {FIRST_LINE}",
    ),
    "without targets": (GOOD.replace(",target", ""), f"column target is missing; {FIRST_LINE}"),
    "a column too many": (GOOD.replace("target", "target,note"), "column 8 is 'note', which is one too many"),
    "the index of pandas": (f",{GOOD}", f"column 1 is '', not 'match'; {FIRST_LINE}"),
    "decimal commas": (
        GOOD.replace("0.95", '"0,95"'),
        f"column target of row 1 is '0,95'; it must be from -1 to 1, {POINT}",
    ),
    "a fraction": (
        GOOD.replace("0,1,1,", "0,1.0,1,"),
        "column ply of row 2 is '1.0'; it must be 0 or more, written as a",
    ),
    "a negative bit": (
        GOOD.replace("1,-1", "-1,-1"),
        "column v3 of row 2 is '-1'; it must be 0 or 1, written as a whole",
    ),
    "an empty field": (GOOD.replace("0.95", ""), f"column target of row 1 is ''; it must be from -1 to 1, {POINT}"),
    "semicolons": (
        GOOD.replace(",", ";").replace(".", ","),
        "has ';' between its columns; write it with commas, and numbers with a point",
    ),
    "tabs": (GOOD.replace(",", "\t"), "has '\\\\t' between its columns; write it with commas"),
    "UTF-16": (GOOD.encode("utf-16"), "is not UTF-8 text"),
}


@pytest.mark.parametrize("kind", BROKEN_FILES)
def test_a_broken_file_is_refused_with_its_name_and_one_line(written, kind):
    content, message = BROKEN_FILES[kind]
    path = written(content)
    with assert_file_rejected(path, message):
        read_dataset(path, CODEC)


@pytest.mark.parametrize("content", [f"\ufeff{GOOD}", GOOD.replace("\n", "\r\n"), GOOD.replace("match", '"match"')])
def test_a_file_of_a_spreadsheet_has_the_same_rows(written, content):
    expected = read_dataset(written(GOOD), CODEC)
    for found, column in zip(read_dataset(written(content), CODEC), expected, strict=True):
        np.testing.assert_equal(found, column)


def test_a_truncated_file_is_refused_unless_its_rows_are_complete(written):
    whole_rows = {len(HEADER) + len("0,0,1,0,0,0,0.95\n"), len(GOOD)}
    for length in range(len(GOOD) + 1):
        path = written(GOOD[:length])
        if length in whole_rows:
            read_dataset(path, CODEC)
        else:
            with pytest.raises(InvalidFileError):
                read_dataset(path, CODEC)
