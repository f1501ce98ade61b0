"""Runs whose levels are stub players."""

from pathlib import Path

from selfplay import Settings, compose_settings
from selfplay.runs.run_folder import RunFolder


def settings_for(run_dir: Path, game: str, levels: int, *overrides: str) -> Settings:
    """Settings of a run whose levels are stub players with empty files."""
    for level in range(1, levels + 1):
        agent = RunFolder(run_dir).agent(level)
        agent.parent.mkdir(parents=True)
        agent.touch()
    return compose_settings([f"game={game}", f"run_dir={run_dir}", *overrides])
