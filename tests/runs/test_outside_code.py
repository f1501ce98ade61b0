"""Code from outside that records name: recorded with what it was used for, and compared."""

import json
import sys

import numpy as np
import pytest

from selfplay.code_identity import changes_of_code
from selfplay.errors import InvalidFileError, StageError
from selfplay.registry import outside_parts
from selfplay.runs import manifest
from selfplay.runs.manifest import Manifest, Stage, code_of
from selfplay.runs.saved_arrays import load_arrays, save_arrays
from tests.support import pile

RECORD = {"game.name": "games_of_mine:Mine", "seed": 0}


def part_of(constant):
    scope = {"__name__": "games_of_mine"}
    exec(f"def part(): return {constant}", scope)
    return scope["part"]


@pytest.fixture
def use_part(monkeypatch):
    """A function that sets the constant of the part that all records name."""
    return lambda constant: monkeypatch.setattr(
        manifest, "outside_parts", lambda texts: {text: part_of(constant) for text in texts if ":" in text}
    )


def test_files_made_with_other_code_are_refused_or_made_again(tmp_path, use_part):
    (tmp_path / "file").touch()
    use_part(1)
    Manifest(tmp_path).record("stage", RECORD, {}, ["file"])
    assert Stage("stage", tmp_path, RECORD, force=False).is_done()
    use_part(2)
    with pytest.raises(StageError, match=r": the code of games_of_mine has changed.*; set another run_dir, or force"):
        Stage("stage", tmp_path, RECORD, force=False).is_done()
    assert not Stage("stage", tmp_path, RECORD, force=True).is_done()


def test_code_that_is_named_but_not_recorded_in_the_settings_counts(tmp_path, use_part):
    use_part(1)
    Manifest(tmp_path).record("stage", {}, {}, [], names=RECORD)
    use_part(2)
    assert Stage("stage", tmp_path, {}, force=True).is_done()
    assert not Stage("stage", tmp_path, {}, force=True, names=RECORD).is_done()


@pytest.mark.parametrize("change", [lambda code: code.clear(), lambda code: code["code"].update(python="3.10")])
def test_code_that_was_not_recorded_or_compiled_by_another_python_is_not_compared(tmp_path, use_part, change):
    use_part(1)
    Manifest(tmp_path).record("stage", RECORD, {}, [])
    content = json.loads((path := tmp_path / "manifest.json").read_text())
    section = content["stage"]
    recorded = {"code": section.pop("code")}
    change(recorded)
    path.write_text(json.dumps({**content, "stage": {**section, **recorded}}))
    use_part(2)
    assert Stage("stage", tmp_path, RECORD, force=False).is_done()


def test_nothing_is_recorded_of_the_program_itself(tmp_path):
    Manifest(tmp_path).record("stage", {"game.name": "tictactoe", "player": "search:alphabeta?depth=3"}, {}, [])
    assert "code" not in json.loads((tmp_path / "manifest.json").read_text())["stage"]


def test_arrays_of_a_computation_with_other_code_are_refused(tmp_path, use_part):
    path = tmp_path / "arrays.npz"
    use_part(1)
    save_arrays(path, {"a": np.zeros(2)}, RECORD)
    assert load_arrays(path, RECORD)["a"].tolist() == [0, 0]
    use_part(2)
    with pytest.raises(InvalidFileError, match="belongs to another computation"):
        load_arrays(path, RECORD)


@pytest.mark.parametrize(
    "text",
    [
        "tests.support.pile:Pile",
        "tests.support.pile:Pile_5x5_komi=2",
        "mcts:tests.support.pile:Pile?simulations=3",
        "search:alphabeta?evaluation=tests.support.pile:Pile&depth=2",
    ],
)
def test_parts_are_found_wherever_a_text_names_them(text, monkeypatch):
    monkeypatch.setattr("selfplay.registry._named_modules", {"tests.support.pile"})
    monkeypatch.setattr("selfplay.registry._outside_parts", {})
    assert outside_parts([text]) == {"tests.support.pile:Pile": pile.Pile}
    assert code_of({"names": [text]})["code"]["modules"].keys() >= {"tests.support.pile"}
    assert outside_parts(["tests.support.pile:Piles", "level:3", "gtp:tests.support.pile"]) == {}


def test_only_files_are_named_whose_code_has_changed(monkeypatch):
    monkeypatch.setattr("selfplay.registry._named_modules", {"tests.support.pile"})
    record = {"game": "tests.support.pile:Pile"}
    code = code_of(record)["code"]
    assert any(name not in sys.modules for name in code["modules"])  # that of the methods of a named tuple
    was = {**code, "sha256": "0" * 64, "modules": dict.fromkeys(code["modules"], "0" * 64)}
    named = (
        changes_of_code(was, code).removeprefix("the code of ").removesuffix(" has changed, or a value that it uses")
    )
    assert pile.__file__ in named.split(", ")
    assert all(file.endswith(".py") for file in named.split(", "))


def test_modules_that_the_user_has_not_named_are_not_imported(monkeypatch):
    monkeypatch.setattr("selfplay.registry._named_modules", set())
    monkeypatch.setattr("selfplay.registry._outside_parts", {})
    assert outside_parts(["tests.support.pile:Pile"]) == {}


def test_of_several_modules_those_that_have_changed_are_named(monkeypatch):
    record = {"game.name": "games_of_mine:Mine", "player": "players_of_mine:Mine"}
    constants = {"games_of_mine": 1, "players_of_mine": 1}

    def parts(texts):
        found = {}
        for text in texts:
            scope = {"__name__": (module := text.partition(":")[0])}
            exec(f"def part(): return {constants[module]}", scope)
            found[text] = scope["part"]
        return found

    monkeypatch.setattr(manifest, "outside_parts", parts)
    was = code_of(record)["code"]
    assert changes_of_code(was, code_of(record)["code"]) == ""
    constants["players_of_mine"] = 2
    assert changes_of_code(was, code_of(record)["code"]).startswith("the code of players_of_mine has changed")
    constants["games_of_mine"] = 2
    assert changes_of_code(was, code_of(record)["code"]).startswith(
        "the code of games_of_mine, players_of_mine has changed"
    )
