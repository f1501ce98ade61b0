"""Experience as JSON: export, import, and invalid files."""

import json

import pytest

from selfplay.errors import InvalidFileError
from selfplay.experience.json_file import export_json, import_json
from tests.support.experience_tools import X_WINS, learn, new_store, random_match


@pytest.fixture
def store(tmp_path):
    store = new_store(tmp_path / "kept")
    learn(store, X_WINS)
    return store


@pytest.fixture
def written(store, tmp_path):
    """The file of `store`, as JSON."""
    export_json(store, tmp_path / "experience.json")
    return json.loads((tmp_path / "experience.json").read_text())


def read(store, folder, content):
    path = folder / "state_action.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return import_json(store, path)


def test_a_file_has_the_published_form(store, tmp_path):
    assert export_json(store, tmp_path / "out.json") == 6
    text = (tmp_path / "out.json").read_text()
    assert text.startswith('{\n    "0": {\n        "state": [\n            0,')
    entries = json.loads(text)
    assert list(entries) == ["0", "1", "2", "3", "4", "5"]
    assert entries["0"] == {"state": [0] * 9, "next": ["1"], "score": pytest.approx(0.59049), "end": False}
    assert entries["4"] == {"state": [1, 1, 0, -1, -1, 0, 0, 0, 0], "next": ["5"], "score": 0.9, "end": False}
    assert entries["5"] == {"state": [1, 1, 1, -1, -1, 0, 0, 0, 0], "next": [], "score": 1, "end": True}
    assert '"score": 1,' in text


@pytest.mark.parametrize("rule", [{}, {"backup": "minimax", "canonical": True, "discount": 0.7}])
def test_a_store_that_is_written_and_read_back_is_equal(tmp_path, rule):
    store, other = new_store(tmp_path / "one", **rule), new_store(tmp_path / "other", **rule)
    for seed in range(40):
        learn(store, random_match(seed))
    learn(other, random_match(1000))
    export_json(store, tmp_path / "out.json")
    assert import_json(other, tmp_path / "out.json") == len(store)
    assert other.boards() == store.boards()
    learn(store, random_match(50))
    learn(other, random_match(50))
    assert other.boards() == store.boards()


def changed(number, **values):
    return lambda entries: entries[number].update(values)


def without(number, key):
    return lambda entries: entries[number].pop(key)


WRONG = {
    "a key is missing": (without("2", "score"), r"is not a JSON object of boards by number \(2\.score is missing\)"),
    "a board is not a number": (
        lambda e: e.update(x=e.pop("5")),
        "board '5' is missing among 6 boards; found 'x' instead",
    ),
    "state has a 2": (changed("1", state=[2] + [0] * 8), r".*\(1\.state\.0 must be less than or equal to 1\)"),
    "stones out of turn": (changed("1", state=[-1] + [0] * 8), "tictactoe: X moves first"),
    "two equal states": (changed("1", state=[0] * 9), "boards '0' and '1' have the same state"),
    "a square is missing": (changed("1", state=[1] + [0] * 7), "board '1': state is not a list of 9"),
    "next dangles": (changed("0", next=["6"]), "board '0': next '6' is not a board of this file"),
    "next after the end": (changed("5", next=["4"]), "board '5': next '4' is not one move away from it"),
    "score is too large": (changed("0", score=1.01), r".*\(0\.score must be less than or equal to 1\)"),
    "end of an unfinished match": (changed("0", end=True), "board '0': its end and score do not match its state"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_invalid_file_is_rejected_and_the_store_is_unchanged(store, written, tmp_path, case):
    change, message = WRONG[case]
    before = store.boards()
    change(written)
    with pytest.raises(InvalidFileError, match=f"^{tmp_path}/state_action.json: {message}") as caught:
        read(store, tmp_path, written)
    assert "\n" not in str(caught.value)
    assert store.boards() == before


def test_a_file_that_is_not_json_of_boards_is_rejected(store, tmp_path):
    before = store.boards()
    with pytest.raises(InvalidFileError, match=r"state_action\.json: is not a JSON object of boards by number"):
        read(store, tmp_path, "[" * 100_000)
    assert store.boards() == before
