"""The files of tabular players: what is saved comes back, and nothing else is taken for it."""

import io
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import InvalidFileError
from selfplay.games.position_graph import positions_of
from selfplay.learners.tabular.learning import TEMPORAL_DIFFERENCE, Tables, initial_values, learn_matches
from selfplay.learners.tabular.policy_file import load_policy, save_policy
from selfplay.players.tabular import load_tabular_player
from tests.support.rejections import assert_file_rejected

GRAPH = positions_of("tictactoe")


def learned() -> Tables:
    values = initial_values(GRAPH, TEMPORAL_DIFFERENCE)
    for _ in learn_matches(GRAPH, values, TEMPORAL_DIFFERENCE, matches=600, step_size=0.1, epsilon=0.01, key=1):
        pass
    return values


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.npz"
    save_policy(path, GRAPH, learned(), TEMPORAL_DIFFERENCE, {"seed": 0})
    return path


def test_a_policy_comes_back_as_it_was_saved(policy_file: Path) -> None:
    policy = load_policy(policy_file, GRAPH)
    assert np.array_equal(policy.values, learned())
    assert {name: policy.metadata[name] for name in ("game", "rule", "settings")} == {
        "game": "tictactoe",
        "rule": "temporal_difference",
        "settings": {"seed": 0},
    }
    assert set(policy.metadata["versions"]) == {"selfplay", "numpy"}
    assert load_tabular_player(policy_file, GRAPH).ties == "random"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"nothing.npz: is not there"):
        load_policy(tmp_path / "nothing.npz", GRAPH)


def test_a_policy_of_another_game_is_refused(policy_file: Path) -> None:
    with pytest.raises(InvalidFileError, match="plays tictactoe, not sumto100"):
        load_policy(policy_file, positions_of("sumto100"))


def npz_bytes(**changes: object) -> bytes:
    """A good policy file with some of its arrays replaced, or left out where None."""
    metadata = {"format": 1, "game": "tictactoe", "rule": "temporal_difference", "settings": {}, "versions": {}}
    metadata |= changes.pop("metadata", {})
    arrays = {
        "values": initial_values(GRAPH, TEMPORAL_DIFFERENCE),
        "own": GRAPH.state.own.numpy(),
        "opp": GRAPH.state.opp.numpy(),
        "metadata": np.array(json.dumps(metadata)),
    }
    arrays |= changes
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


FOREIGN = {
    "empty": (b"", "cannot be read"),
    "text": (b"hello\n", "cannot be read"),
    "cut off": (npz_bytes()[:100_000], "cannot be read"),
    "a table is missing": (npz_bytes(values=None), "is no policy of this program"),
    "a pickle": (npz_bytes(own=np.array([{}], dtype=object)), "cannot be read"),
    "another shape": (npz_bytes(values=np.zeros((2, len(GRAPH)))), "its values are float64"),
    "another kind of number": (npz_bytes(values=np.zeros((2, 2, len(GRAPH)), dtype=np.int64)), "its values are int64"),
    "not a number": (npz_bytes(values=np.full((2, 2, len(GRAPH)), np.nan)), "outside 0 to 1"),
    "out of range": (npz_bytes(values=np.full((2, 2, len(GRAPH)), 1.5)), "outside 0 to 1"),
    "other positions": (npz_bytes(own=GRAPH.state.own.numpy()[::-1]), "its positions are not those of tictactoe"),
    "another format": (npz_bytes(metadata={"format": 2}), "is no policy of this format"),
    "another rule": (npz_bytes(metadata={"rule": "guessing"}), "'guessing', which is unknown"),
    "a rule that is no word": (npz_bytes(metadata={"rule": ["guessing"]}), "which is unknown"),
    "metadata of another kind": (npz_bytes(metadata={"extra": 1}), "is no policy of this format"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_in_one_line(tmp_path: Path, what: str) -> None:
    content, reason = FOREIGN[what]
    path = tmp_path / "policy.npz"
    path.write_bytes(content)
    with assert_file_rejected(path, re.escape(reason)):
        load_policy(path, GRAPH)


def test_a_file_of_this_making_is_read(tmp_path: Path) -> None:
    (tmp_path / "policy.npz").write_bytes(npz_bytes())
    load_policy(tmp_path / "policy.npz", GRAPH)


def test_no_damaged_file_is_taken_for_a_good_one(tmp_path: Path, policy_file: Path) -> None:
    """Bytes changed at random: refused, or of no consequence."""
    good, rng, path = policy_file.read_bytes(), random.Random(0), tmp_path / "damaged.npz"
    expected = load_policy(policy_file, GRAPH).values
    # The last 600 bytes are the directory; headers stand before each array.
    places = [rng.randrange(len(good)) for _ in range(100)] + [
        rng.randrange(len(good) - 600, len(good)) for _ in range(200)
    ]
    places += [rng.randrange(300) for _ in range(100)]
    for place in places:
        path.write_bytes(good[:place] + bytes([good[place] ^ rng.randrange(1, 256)]) + good[place + 1 :])
        try:
            values = load_policy(path, GRAPH).values
        except InvalidFileError:
            continue
        assert np.array_equal(values, expected)
