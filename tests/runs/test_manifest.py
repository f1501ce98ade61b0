"""The manifest of a level: which stages are done, with which settings, and what is rejected."""

import json
import os

import pytest

from selfplay.errors import InvalidFileError, StageError
from selfplay.files import sha256
from selfplay.runs.manifest import Manifest, check_against_manifest
from tests.support.rejections import assert_file_rejected

SETTINGS = {"seed": 1, "epsilons": [0.5, 0.1], "note": None}


@pytest.fixture
def done(tmp_path):
    """A level whose stage `generation` is done."""
    (tmp_path / "dataset.csv").write_text("rows")
    Manifest(tmp_path).record("generation", SETTINGS, {"rows": 4}, ["dataset.csv"])
    return tmp_path


def test_a_stage_is_not_done_before_it_is_recorded(tmp_path):
    assert not Manifest(tmp_path).is_done("generation", SETTINGS, force=False)


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


def test_a_stage_whose_file_is_gone_is_not_done(done):
    (done / "dataset.csv").unlink()
    assert not Manifest(done).is_done("generation", SETTINGS, force=False)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "seed was 1, is 2"),
        ({"epsilons": [0.5]}, r"epsilons was \[0.5, 0.1\], is \[0.5\]"),
        ({"note": "x"}, 'note was null, is "x"'),
        ({"threads": 1}, "threads was null, is 1"),
        ({"seed": 2, "note": "x"}, 'note was null, is "x", seed was 1, is 2'),
    ],
)
def test_other_settings_are_refused_and_named_unless_forced(done, changed, message):
    settings = {**SETTINGS, **changed}
    with pytest.raises(StageError, match=f"{message}; set another run_dir, or force=true"):
        Manifest(done).is_done("generation", settings, force=False)
    assert not Manifest(done).is_done("generation", settings, force=True)


def test_a_removed_setting_is_a_difference(done):
    with pytest.raises(StageError, match="seed was 1, is null"):
        Manifest(done).is_done("generation", {"epsilons": [0.5, 0.1], "note": None}, force=False)


def test_a_file_changed_since_is_refused_unless_forced(done):
    (done / "dataset.csv").write_text("other rows")
    with pytest.raises(StageError, match=r"dataset\.csv was changed after it was made"):
        Manifest(done).is_done("generation", SETTINGS, force=False)
    assert not Manifest(done).is_done("generation", SETTINGS, force=True)


def test_a_forgotten_stage_is_not_done_and_others_stay(done):
    (done / "agent").write_text("weights")
    Manifest(done).record("training", SETTINGS, {}, ["agent"])
    Manifest(done).forget("generation")
    assert not Manifest(done).is_done("generation", SETTINGS, force=False)
    assert Manifest(done).is_done("training", SETTINGS, force=False)


def test_the_same_record_gives_the_same_bytes(done):
    before = (done / "manifest.json").read_bytes()
    Manifest(done).forget("generation")
    Manifest(done).record("generation", dict(reversed(SETTINGS.items())), {"rows": 4}, ["dataset.csv"])
    assert (done / "manifest.json").read_bytes() == before


def test_a_file_that_is_not_a_manifest_is_refused_by_name(tmp_path):
    texts = ["", "{", "[]", "null", "{}", '{"format": 0}', '{"format": 2}', '"format"', "7"]
    deep = ["[" * 100_000, '{"a":' * 5000, "1" * 5000, '{"format": 1' + "0" * 5000 + "}", "NaN"]
    sections = ['"text"', "[]", "{}", "null", '{"files": {}}']
    foreign = [f'{{"format": 1, "generation": {section}}}' for section in sections]
    path = tmp_path / "manifest.json"
    for content in [*(text.encode() for text in [*texts, *deep, *foreign]), b"\xff\xfe\x00"]:
        path.write_bytes(content)
        with assert_file_rejected(path, "is not a manifest of this format"):
            Manifest(tmp_path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("settings",), 3),
        (("settings",), ["seed"]),
        (("files",), 3),
        (("files", "dataset.csv"), 3),
        (("files", "dataset.csv"), "abc"),
        (("files", "../dataset.csv"), "0" * 64),
        (("files", "/dev/zero"), "0" * 64),
        (("settings", "replayed_sha256"), 3),
        (("settings", "replayed_sha256"), [3]),
        (("settings", "game"), ["a"]),
        (("settings", "agent_sha256"), None),
    ],
    ids=str,
)
def test_values_of_another_type_are_refused_by_name(done, path, value):
    content = json.loads((done / "manifest.json").read_text())
    *sections, last = path
    place = content["generation"]
    for section in sections:
        place = place[section]
    place[last] = value
    (done / "manifest.json").write_text(json.dumps(content))
    with assert_file_rejected(
        done / "manifest.json", r"is not a manifest of this format \(.*\); delete it and run again"
    ):
        Manifest(done)


def test_a_manifest_that_is_too_large_or_not_a_regular_file_is_refused(tmp_path):
    path = tmp_path / "manifest.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidFileError, match=r"it has 1,099,511,627,776 bytes, more than"):
        Manifest(tmp_path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(InvalidFileError, match="it is not a regular file"):
        Manifest(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidFileError, match="it is not a regular file"):
        Manifest(tmp_path)


def test_a_file_that_differs_from_its_manifest_is_refused(done):
    check_against_manifest(done / "dataset.csv")
    check_against_manifest(done / "a file that no manifest describes")
    (done / "dataset.csv").write_text("other")
    with assert_file_rejected(done / "dataset.csv", "differs from its manifest"):
        check_against_manifest(done / "dataset.csv")
