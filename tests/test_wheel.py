"""The wheel: it is complete, adds one top-level name, and works where the checkout is not on the path."""

import re
import tomllib
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

import selfplay
from selfplay.installation import DISTRIBUTION
from tests.support.runs import PROJECT


def files_below(folder: Path, pattern: str = "*") -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern) if path.is_file()}


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel."""
    folder = tmp_path_factory.mktemp("unpacked").resolve()
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_all_files_state_the_same_name_and_version() -> None:
    assert tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["name"] == DISTRIBUTION
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    releases = re.findall(r"^## (\d\S+) - (\S+)$", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert releases[0] == (citation["version"], citation["date-released"])
    assert citation["version"] == selfplay.__version__


@pytest.mark.slow
def test_the_description_of_the_wheel_needs_no_file_of_the_repository(unpacked: Path) -> None:
    (folder,) = unpacked.glob("*.dist-info")
    metadata = message_from_string((folder / "METADATA").read_text())
    assert (metadata["Name"], metadata["Version"]) == (DISTRIBUTION, selfplay.__version__)
    assert "import selfplay" in metadata.get_payload()
    assert re.findall(r"\]\((?!https:)", metadata.get_payload()) == []


@pytest.mark.slow
def test_the_wheel_adds_one_top_level_name(unpacked: Path) -> None:
    names = {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"selfplay"}
    assert (unpacked / "selfplay" / "py.typed").exists()


@pytest.mark.slow
def test_the_wheel_holds_all_modules_settings_and_files_of_the_page(unpacked: Path) -> None:
    package = unpacked / "selfplay"
    assert files_below(package / "conf") == files_below(PROJECT / "conf", "*.yaml")
    assert files_below(package / "architectures") == files_below(PROJECT / "architectures", "*.py")
    assert files_below(package / "web" / "page") == files_below(PROJECT / "selfplay" / "web" / "page")
    assert files_below(PROJECT / "selfplay", "*.py") <= files_below(package, "*.py")
