"""The files of tabular players: saving, loading, and rejected files."""

import io
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import InvalidFileError
from selfplay.games.position_graph import positions_of
from selfplay.tabular.learning import TEMPORAL_DIFFERENCE, Tables, initial_values, learn_matches
from selfplay.tabular.table_file import load_tables, save_tables
from tests.support.rejections import assert_file_rejected

GRAPH = positions_of("tictactoe")


def learned() -> Tables:
    values = initial_values(GRAPH, TEMPORAL_DIFFERENCE)
    for _ in learn_matches(GRAPH, values, TEMPORAL_DIFFERENCE, matches=600, step_size=0.1, epsilon=0.01, key=1):
        pass
    return values


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "tables.npz"
    save_tables(path, GRAPH, learned(), TEMPORAL_DIFFERENCE, {"seed": 0})
    return path


def test_tables_are_loaded_as_they_were_saved(table_file: Path) -> None:
    saved = load_tables(table_file, GRAPH)
    assert np.array_equal(saved.values, learned())
    assert {name: saved.metadata[name] for name in ("game", "rule", "settings")} == {
        "game": "tictactoe",
        "rule": "temporal_difference",
        "settings": {"seed": 0},
    }
    assert set(saved.metadata["versions"]) == {"selfplay", "numpy"}
    assert saved.rule.ties == "random"


def test_tables_of_another_game_are_refused(table_file: Path) -> None:
    with pytest.raises(InvalidFileError, match="plays tictactoe, not sumto100"):
        load_tables(table_file, positions_of("sumto100"))


def npz_bytes(**changes: object) -> bytes:
    """A valid file of tables with some arrays replaced, or left out where None."""
    metadata = {"format": 2, "game": "tictactoe", "rule": "temporal_difference", "settings": {}, "versions": {}}
    metadata |= changes.pop("metadata", {})
    arrays = {
        "values": initial_values(GRAPH, TEMPORAL_DIFFERENCE),
        "position": GRAPH.state.position.numpy(),
        "metadata": np.array(json.dumps(metadata)),
    }
    arrays |= changes
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


FOREIGN = {
    "a pickle": (npz_bytes(position=np.array([{}], dtype=object)), "cannot be read"),
    "another shape": (npz_bytes(values=np.zeros((2, len(GRAPH)))), "its values are float64"),
    "other positions": (
        npz_bytes(position=GRAPH.state.position.numpy()[::-1]),
        "its positions are not those of tictactoe",
    ),
    "another rule": (npz_bytes(metadata={"rule": "guessing"}), "the unknown rule 'guessing'"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_in_one_line(tmp_path: Path, what: str) -> None:
    content, reason = FOREIGN[what]
    path = tmp_path / "tables.npz"
    path.write_bytes(content)
    with assert_file_rejected(path, re.escape(reason)):
        load_tables(path, GRAPH)


def test_a_damaged_file_is_refused_or_has_the_same_tables(tmp_path: Path, table_file: Path) -> None:
    """Random bytes are changed."""
    good, rng, path = table_file.read_bytes(), random.Random(0), tmp_path / "damaged.npz"
    expected = load_tables(table_file, GRAPH).values
    # The last 600 bytes are the directory; headers stand before each array.
    places = [rng.randrange(len(good)) for _ in range(30)] + [
        rng.randrange(len(good) - 600, len(good)) for _ in range(50)
    ]
    places += [rng.randrange(300) for _ in range(30)]
    for place in places:
        path.write_bytes(good[:place] + bytes([good[place] ^ rng.randrange(1, 256)]) + good[place + 1 :])
        try:
            values = load_tables(path, GRAPH).values
        except InvalidFileError:
            continue
        assert np.array_equal(values, expected)
