"""docs/files.md names every file that programs write into a run."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

from selfplay import ExperienceStore, make_game
from selfplay.agents.checkpoints import CheckpointMetadata
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import TournamentSettings
from selfplay.settings.run import Run
from selfplay.stages.tournament import play_tournament
from selfplay.stages.train_tabular import train_tabular
from tests.support.runs import report_of_comparison, tiny_settings

FILES = (PROJECT_FOLDER / "docs" / "files.md").read_text()


def documented_files() -> list[str]:
    """The files of the list at the beginning of files.md, as patterns of paths below the run's folder."""
    block = FILES.partition("    run_dir/\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in block.splitlines()]
    return [re.sub(r"^level_\d\d", "level_*", name) + "*" * name.endswith("/") for name in names]


def test_every_file_of_a_run_is_in_the_list(run_copy: Path) -> None:
    report_of_comparison(tiny_settings(run_copy, "comparison.matches=20"))
    folder = f"run_dir={run_copy}"
    train_tabular(Run.of(compose_settings_of(TabularSettings, "tabular", [folder, "episodes=50"])))
    players = "players=[random,perfect]"
    play_tournament(compose_settings_of(TournamentSettings, "tournament", [folder, players, "matches=2"]))
    ExperienceStore(run_copy / "experience.sqlite", make_game("tictactoe")).close()
    written = [path.relative_to(run_copy).as_posix() for path in run_copy.rglob("*") if path.is_file()]
    patterns = documented_files()
    assert [name for name in written if not any(fnmatch(name, pattern) for pattern in patterns)] == []
    for folder_name in ("level_02", "comparison", "figures", "tournament", "tabular"):
        assert any(name.startswith(f"{folder_name}/") for name in written)


def test_every_picture_that_the_code_names_is_described() -> None:
    constants = {
        node.value
        for package in ("figures", "grading", "stages")
        for path in (PROJECT_FOLDER / "selfplay" / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    pictures = {name for name in constants if re.fullmatch(r"[a-z_]+\.(png|gif)", name)} - {"runs.png"}  # of sweeps
    assert "policies.png" in pictures
    assert [name for name in sorted(pictures) if name not in FILES] == []


def test_every_entry_of_the_metadata_of_an_agent_is_described() -> None:
    table = FILES.partition("## agent.safetensors")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(CheckpointMetadata.__annotations__)
