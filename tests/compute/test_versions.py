"""Digests of the sources."""

from pathlib import Path

import pytest

from selfplay.compute import compile_cache as versions


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a file in each of two folders."""
    for name in ("games", "grading"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.py").write_text("A = 1\n")
    monkeypatch.setattr(versions, "PACKAGE", tmp_path)
    return tmp_path


def digests() -> tuple[str, str]:
    return versions.sources_digest.__wrapped__(), versions.compiled_sources_digest.__wrapped__()


def test_compiled_code_depends_only_on_the_folders_with_compiled_functions_and_what_they_import(package: Path) -> None:
    before = digests()
    (package / "grading" / "file.py").write_text("A = 2\n")
    after = digests()
    assert after[0] != before[0]
    assert after[1] == before[1]
    (package / "games" / "file.py").write_text("A = 2\n")
    assert digests()[1] != before[1]
