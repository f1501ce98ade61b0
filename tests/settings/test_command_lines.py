"""The commands that messages tell a user to run."""

from pathlib import Path

import pytest

from selfplay.settings.command_lines import command_line


@pytest.mark.parametrize(
    ("there", "word"), [(["python3"], "python3"), (["python", "python3"], "python"), ([], "python")]
)
def test_commands_start_with_a_python_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: list[str], word: str
) -> None:
    for name in there:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_line("play") == f"{word} play/console.py"
