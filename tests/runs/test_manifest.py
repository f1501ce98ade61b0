"""The manifest of a level: which stages are done, with which settings, and what is rejected."""

import json

import pytest

from selfplay.errors import StageError
from selfplay.files import sha256
from selfplay.runs.manifest import RUN, Manifest, check_against_manifest
from tests.support.rejections import assert_file_rejected

SETTINGS = {"seed": 1, "epsilons": [0.5, 0.1], "note": None}


@pytest.fixture
def done(tmp_path):
    """A level whose stage `generation` is done."""
    (tmp_path / "dataset.csv").write_text("rows")
    Manifest(tmp_path).record("generation", SETTINGS, {"rows": 4}, ["dataset.csv"])
    return tmp_path


def test_a_recorded_stage_with_the_same_settings_is_done(done):
    assert Manifest(done).is_done("generation", dict(reversed(SETTINGS.items())), force=False)
    assert Manifest(done).is_done("generation", SETTINGS, force=True)
    assert not Manifest(done).is_done("training", SETTINGS, force=False)


def test_a_manifest_records_settings_counts_files_and_versions(done):
    content = json.loads((done / "manifest.json").read_text())
    section = content["generation"]
    assert section["settings"] == SETTINGS
    assert section["counts"] == {"rows": 4}
    assert section["files"] == {"dataset.csv": sha256(done / "dataset.csv")}
    assert section["versions"].keys() == {"selfplay", "torch", "numpy"}


def test_other_settings_are_refused_and_named_unless_forced(done):
    settings = {**SETTINGS, "seed": 2, "note": "x"}
    message = 'note was null, is "x", seed was 1, is 2; set another run_dir, or force=true'
    with pytest.raises(StageError, match=message):
        Manifest(done).is_done("generation", settings, force=False)
    assert not Manifest(done).is_done("generation", settings, force=True)


def test_a_file_changed_since_is_refused_unless_forced(done):
    (done / "dataset.csv").write_text("other rows")
    with pytest.raises(StageError, match=r"dataset\.csv was changed after it was made"):
        Manifest(done).is_done("generation", SETTINGS, force=False)
    assert not Manifest(done).is_done("generation", SETTINGS, force=True)


def test_the_same_record_gives_the_same_bytes(done):
    before = (done / "manifest.json").read_bytes()
    Manifest(done).forget("generation")
    Manifest(done).record("generation", dict(reversed(SETTINGS.items())), {"rows": 4}, ["dataset.csv"])
    assert (done / "manifest.json").read_bytes() == before


def test_a_file_that_is_not_a_manifest_is_refused_by_name(tmp_path):
    texts = ["", "{", "[]", "null", "{}", '{"format": 0}', '{"format": 3}', '"format"', "7"]
    deep = ["[" * 100_000, '{"a":' * 5000, "1" * 5000, '{"format": 1' + "0" * 5000 + "}", "NaN"]
    sections = ['"text"', "[]", "{}", "null", '{"files": {}}']
    foreign = [f'{{"format": 1, "generation": {section}}}' for section in sections]
    path = tmp_path / "manifest.json"
    for content in [*(text.encode() for text in [*texts, *deep, *foreign]), b"\xff\xfe\x00"]:
        path.write_bytes(content)
        with assert_file_rejected(path, "is not a manifest of this format"):
            Manifest(tmp_path)


def test_a_file_that_differs_from_its_manifest_is_refused(done):
    check_against_manifest(done / "dataset.csv")
    check_against_manifest(done / "a file that no manifest describes")
    (done / "dataset.csv").write_text("other")
    with assert_file_rejected(done / "dataset.csv", "differs from its manifest"):
        check_against_manifest(done / "dataset.csv")


def written_in_format_1(folder, stage, settings):
    section = {"settings": settings, "counts": {}, "files": {}, "versions": {}}
    (folder / "manifest.json").write_text(json.dumps({"format": 1, stage: section}))


def test_settings_that_format_1_left_out_for_their_lack_of_effect_are_not_compared(tmp_path):
    usual = {"epsilons": [0.5], "targets": "full", "player.depth": 1, "exact_from": None, "gamma": 0.95}
    now = {"game.name": "tictactoe", "level": 0, **usual}
    written_in_format_1(tmp_path, "generation", {"game": "tictactoe", "level": 0, "threads": 1, "gamma": 0.95})
    others = {"epsilons": [0.1], "targets": "watkins", "player.depth": 2}
    assert Manifest(tmp_path).is_done("generation", now | others, usual, force=False)
    for name, value in {"exact_from": 9, "gamma": 0.5, "game.name": "hex"}.items():
        with pytest.raises(StageError, match=f"{name} was "):
            Manifest(tmp_path).is_done("generation", now | {name: value}, usual, force=False)


def test_settings_that_format_1_left_out_as_usual_are_compared(tmp_path):
    usual = {"epsilons": [0.5], "targets": "full", "player.depth": 1}
    now = {"game.name": "tictactoe", "level": 1, **usual}
    recorded = {"game": "tictactoe", "level": 1, "epsilons": [0.5], "player": {"depth": 1}, "format": "csv"}
    written_in_format_1(tmp_path, "generation", recorded)
    assert Manifest(tmp_path).is_done("generation", now | {"dataset.format": "csv"}, usual, force=False)
    for name, value in {"epsilons": [0.1], "targets": "watkins", "player.depth": 2}.items():
        with pytest.raises(StageError, match=f"{name} was "):
            Manifest(tmp_path).is_done("generation", now | {name: value, "dataset.format": "csv"}, usual, force=False)


@pytest.mark.parametrize("number", [1, 2])
def test_settings_are_compared_by_their_present_names(tmp_path, number):
    recorded = {"level": 1, "targets": "search", "mcts.value_mix": 0.5, "mcts.opening_plies": 4}
    section = {"settings": recorded, "counts": {}, "files": {}, "versions": {}}
    (tmp_path / "manifest.json").write_text(json.dumps({"format": number, "generation": section}))
    usual = {"value_share": 0.0, "opening_plies": 0, "exact_from": None, "opponent": None}
    now = {"level": 1, "targets": "search", "value_share": 0.5, "opening_plies": 4}
    assert Manifest(tmp_path).is_done("generation", now, usual, force=False)
    for name, value in {"value_share": 1.0, "opening_plies": 0, "targets": "full"}.items():
        with pytest.raises(StageError, match=f"{name} was "):
            Manifest(tmp_path).is_done("generation", now | {name: value}, usual, force=False)


def recorded_with(folder, stage, settings):
    section = {"settings": settings, "counts": {}, "files": {}, "versions": {}}
    (folder / "manifest.json").write_text(json.dumps({"format": 2, stage: section}))
    return Manifest(folder)


def test_removed_settings_are_compared_only_where_they_had_an_effect(tmp_path):
    now = {"level": 1, "targets": "watkins"}
    usual = {"sparring_partner": None, "sparring_share": 0.1, "value_depth": None}
    usual |= {"rootstrap_depth": 3, "rootstrap_share": 1.0}
    assert recorded_with(tmp_path, "generation", now | usual).is_done("generation", now, force=False)
    for changed, message in {
        ("sparring_partner", "greedy_discs"): 'sparring_partner was "greedy_discs", is null; set another run_dir',
        ("value_depth", 3): "value_depth was 3, is null; set another run_dir",
        ("targets", "rootstrap"): 'targets was "rootstrap", is "watkins"; set another run_dir',
    }.items():
        with pytest.raises(StageError, match=message):
            recorded_with(tmp_path, "generation", now | usual | dict([changed])).is_done("generation", now, force=False)


def test_the_settings_of_a_run_are_read_without_values_that_were_removed(tmp_path):
    recorded = {"targets": "rootstrap", "training.optimizer.name": "sgd", "levels": 3, "sparring_share": 0.2}
    assert recorded_with(tmp_path, RUN, recorded).sections[RUN]["settings"] == {"levels": 3}
    level = recorded_with(tmp_path, "training", {"training.optimizer.name": "sgd"})
    with pytest.raises(StageError, match=r'training\.optimizer\.name was "sgd", is "adam"; set another run_dir'):
        level.is_done("training", {"training.optimizer.name": "adam"}, force=False)


def test_a_section_has_the_same_bytes_after_another_is_recorded_beside_it(tmp_path):
    settings = {"level": 1, "expert.player": None, "expert.matches": 5}
    for stage in ("training", RUN):
        manifest = Manifest(tmp_path / stage)
        manifest.folder.mkdir()
        manifest.record(stage, settings, {}, [])
        alone = json.loads(manifest.path.read_bytes())[stage]
        Manifest(manifest.folder).record("comparison", {}, {}, [])
        assert json.loads(manifest.path.read_bytes())[stage] == alone
        assert Manifest(manifest.folder).is_done(
            stage, settings, {"expert.matches": 4096, "opening_plies": 0}, force=False
        )


def test_settings_of_an_expert_that_did_not_teach_are_not_compared(tmp_path):
    recorded = {"level": 1, "expert.player": None, "expert.matches": 16384, "expert.round_matches": 1024}
    manifest = recorded_with(tmp_path, "training", recorded)
    usual = {"expert.player": None, "expert.matches": 4096, "expert.seat": "both", "opening_plies": 0}
    now = {"level": 1, **usual}
    assert manifest.is_done("training", now, usual, force=False)
    with pytest.raises(StageError, match=r"expert\.player was null, is "):
        manifest.is_done("training", now | {"expert.player": "search:negascout"}, usual, force=False)


def test_a_section_read_from_format_1_is_compared_alike_after_it_is_written_again(tmp_path):
    written_in_format_1(tmp_path, "generation", {"game": "tictactoe", "level": 0})
    Manifest(tmp_path).record("strength", {}, {}, [])
    assert json.loads((tmp_path / "manifest.json").read_text())["format"] == 2
    assert Manifest(tmp_path).is_done(
        "generation", {"game.name": "tictactoe", "level": 0, "epsilons": [1]}, force=False
    )
