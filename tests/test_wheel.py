"""The wheel: it is complete, adds one top-level name, and works where the checkout is not on the path."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from selfplay.architectures import ARCHITECTURES
from selfplay.compute.versions import sources_digest
from tests.support.runs import PROJECT

USE = """
import sys
from pathlib import Path

unpacked, project = map(Path, sys.argv[1:])
sys.path = [entry for entry in sys.path if Path(entry).resolve() != project]
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in f"{finder} {type(finder).__module__}"]

from fastapi import FastAPI

from selfplay import compose_settings, make_game
from selfplay.architectures import ARCHITECTURES, build_network
from selfplay.settings.folders import CONFIG_FOLDER
from selfplay.compute.versions import sources_digest
from selfplay.web.app import add_static_files

assert CONFIG_FOLDER == unpacked / "selfplay" / "conf"
add_static_files(FastAPI())
print("sources", sources_digest(), "wheel")
for recipe in sorted((CONFIG_FOLDER / "recipe").glob("*.yaml")):
    settings = compose_settings([f"recipe={recipe.stem}"])
    print("recipe", recipe.stem, settings.game.name)
game = make_game("othello")
for name in ARCHITECTURES:
    network = build_network({"name": name}, game.observation_shape, game.num_distinct_actions)
    print("architecture", name, type(network).__name__)
for name, module in list(sys.modules.items()):
    if name.split(".")[0] == "selfplay":
        assert Path(module.__file__).is_relative_to(unpacked), module.__file__
"""


def files_below(folder: Path, pattern: str = "*") -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern) if path.is_file()}


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel."""
    folder = tmp_path_factory.mktemp("unpacked").resolve()
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


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


@pytest.mark.slow
def test_the_unpacked_wheel_composes_settings_builds_networks_and_serves_the_page(
    unpacked: Path, tmp_path: Path
) -> None:
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    command = [sys.executable, "-c", USE, str(unpacked), str(PROJECT)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["sources", sources_digest(), "wheel"]
    recipes = {name for kind, name, _ in lines if kind == "recipe"}
    assert recipes == {path.stem for path in (PROJECT / "conf" / "recipe").glob("*.yaml")}
    networks = {name for kind, name, _ in lines if kind == "architecture"}
    assert networks == set(ARCHITECTURES)
