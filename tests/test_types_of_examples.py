"""The types of the package are found by mypy, and the complete examples of the documentation are typed strictly."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.doc_pages import code_blocks
from tests.support.wheels import plain_environment

PAGES = ["../README.md", "adding_a_game.md", "adding_a_learner.md", "adding_a_player.md", "alphazero.md", "api.md"]
PAGES += ["architectures.md", "connect_four.md", "engines.md", "files.md", "game_reference.md", "playing.md"]
COMPLETE = ('"""', "import ", "from ")
"""What a block of code that is a file of its own begins with; the others are parts of one."""

OWN_GAME = """
from connect3 import Position, legal_actions
from selfplay import Word

reveal_type(legal_actions(Position(0, 0)))
reveal_type(Position(0, 0).own | 1 == 3)
"""


NAMED = {"class Connect3(": "connect3.py", "class Careful(": "careful.py", "def careful(": "careful.py"}
"""The files of the examples that others import, by a text in the block; several blocks are parts of one file."""


@pytest.mark.slow
def test_complete_examples_pass_strict_checks_outside_the_repository(tmp_path: Path) -> None:
    blocks, files = [block for page in PAGES for block in code_blocks(page) if block.startswith(COMPLETE)], set()
    for number, block in enumerate(blocks):
        files.add(name := next((file for text, file in NAMED.items() if text in block), f"example_{number}.py"))
        with (tmp_path / name).open("a") as file:
            file.write(block)
    (tmp_path / "own_game.py").write_text(OWN_GAME)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *files, "own_game.py"]
    checked = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, env=plain_environment()
    )
    notes = [line.partition(": note: ")[2] for line in checked.stdout.splitlines() if ": note: " in line]
    assert notes == ['Revealed type is "int"', 'Revealed type is "bool"']
    assert checked.returncode == 0, checked.stdout
