"""Dialogues with engines as text."""

import re

from selfplay.protocols.line_engine import LineEngine, answer_lines


def dialogue(engine: LineEngine, text: str) -> None:
    """Feed the lines that begin with `> `; the other lines are what must come back, in which ... is any text."""
    said: list[str] = []
    answer_lines(engine, [f"{line[2:]}\r\n" for line in text.splitlines() if line.startswith(">")], said.append)
    expected = "\n".join(line for line in text.splitlines() if not line.startswith(">"))
    assert re.fullmatch(re.escape(expected).replace(r"\.\.\.", ".*"), "".join(said).strip()), "".join(said)
