"""The manifest of a level: which stages are done, with which settings, and what is rejected."""

import json

import pytest

from selfplay.errors import StageError
from selfplay.files import digests_of, sha256
from selfplay.runs.manifest import RUN, Manifest, Stage, check_against_manifest
from tests.support.rejections import assert_file_rejected

SETTINGS = {"seed": 1, "epsilons": [0.5, 0.1], "note": None}


@pytest.fixture
def done(tmp_path):
    """A level whose stage `generation` is done."""
    (tmp_path / "dataset.csv").write_text("rows")
    Manifest(tmp_path).record("generation", SETTINGS, {"rows": 4}, ["dataset.csv"])
    return tmp_path


def test_a_recorded_stage_with_the_same_settings_is_done(done):
    assert Stage("generation", done, dict(reversed(SETTINGS.items())), force=False).is_done()
    assert Stage("generation", done, SETTINGS, force=True).is_done()
    assert not Stage("training", done, SETTINGS, force=False).is_done()


def test_a_manifest_records_settings_counts_files_and_versions(done):
    content = json.loads((done / "manifest.json").read_text())
    section = content["generation"]
    assert section["settings"] == SETTINGS
    assert section["counts"] == {"rows": 4}
    assert section["files"] == {"dataset.csv": sha256(done / "dataset.csv")}
    assert section["versions"].keys() == {"selfplay", "torch", "numpy"}


def test_the_digests_of_all_inputs_are_recorded(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text(path.name)
    one, other, newest = map(sha256, paths)
    assert digests_of(paths, newest="new", others="old") == {"new": newest, "old": [one, other]}
    assert digests_of(paths[:1], newest="new", others="old") == {"new": one}
    assert digests_of([], newest="new", others="old") == {}


def test_other_settings_are_refused_and_named_unless_forced(done):
    settings = {**SETTINGS, "seed": 2, "note": "x"}
    message = 'note was null, is "x", seed was 1, is 2; set another run_dir, or force=true'
    with pytest.raises(StageError, match=message):
        Stage("generation", done, settings, force=False).is_done()
    assert not Stage("generation", done, settings, force=True).is_done()


def test_a_file_changed_since_is_refused_unless_forced(done):
    (done / "dataset.csv").write_text("other rows")
    with pytest.raises(StageError, match=r"dataset\.csv was changed after it was made"):
        Stage("generation", done, SETTINGS, force=False).is_done()
    assert not Stage("generation", done, SETTINGS, force=True).is_done()


def test_the_same_record_gives_the_same_bytes(done):
    before = (done / "manifest.json").read_bytes()
    Manifest(done).forget("generation")
    Manifest(done).record("generation", dict(reversed(SETTINGS.items())), {"rows": 4}, ["dataset.csv"])
    assert (done / "manifest.json").read_bytes() == before


def test_a_file_that_is_not_a_manifest_is_refused_by_name(tmp_path):
    texts = ["", "{", "[]", "null", "{}", '{"format": 0}', '{"format": 1}', '"format"', "7"]
    deep = ["[" * 100_000, '{"a":' * 5000, "1" * 5000, '{"format": 2' + "0" * 5000 + "}", "NaN"]
    sections = ['"text"', "[]", "{}", "null", '{"files": {}}']
    foreign = [f'{{"format": 2, "generation": {section}}}' for section in sections]
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


def test_a_section_has_the_same_bytes_after_another_is_recorded_beside_it(tmp_path):
    settings = {"level": 1, "learner.expert": None, "expert.matches": 5}
    for stage in ("training", RUN):
        manifest = Manifest(tmp_path / stage)
        manifest.folder.mkdir()
        manifest.record(stage, settings, {}, [])
        alone = json.loads(manifest.path.read_bytes())[stage]
        Manifest(manifest.folder).record("comparison", {}, {}, [])
        assert json.loads(manifest.path.read_bytes())[stage] == alone
        defaults = {"expert.matches": 4096, "opening_plies": 0}
        assert Stage(stage, manifest.folder, settings, defaults, force=False).is_done()
