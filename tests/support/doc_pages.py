"""The code and the commands of a page of docs/, as they stand."""

import re
import textwrap
from pathlib import Path

from tests.support.runs import PROJECT


def code_blocks(page: str) -> list[str]:
    """The Python code on a page."""
    return re.findall(r"```python\n(.*?)```", (PROJECT / "docs" / page).read_text(), re.DOTALL)


def block_with(page: str, text: str) -> str:
    """The first block of code on a page that contains this text."""
    return next(block for block in code_blocks(page) if text in block)


def commands(page: str) -> list[str]:
    """The commands `selfplay ...` on a page, each once, in order."""
    found = re.findall(r"^    (selfplay .*)$", (PROJECT / "docs" / page).read_text(), re.MULTILINE)
    return list(dict.fromkeys(found))


def printed_after(page: str, words: str) -> str:
    """The indented text that follows these words on a page."""
    following = (PROJECT / "docs" / page).read_text().partition(words)[2]
    indented = re.match(r"\s*\n((?:    .*\n|\n)+)", following)
    return textwrap.dedent(indented[1]).strip()


def write_module(folder: Path, page: str, text: str, name: str) -> None:
    """Write the block of a page that contains this text to a file in a folder."""
    (folder / name).write_text(block_with(page, text))
