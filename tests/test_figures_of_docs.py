"""The figures of docs/ are those that their command draws today, from the data beside them."""

import re
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from tests.support.runs import PROJECT
from tests.support.scripts import loaded_script

DOCS = PROJECT / "docs"
BLOCK, LEAST = 16, 0.03
"""Pixels, and the mean difference of a block of so many pixels in each direction that somebody can see, where that of
black and white is 1: a digit that has changed makes 0.05. Other processors may smooth lines a little differently."""


@cache
def figures() -> ModuleType:
    return loaded_script(DOCS / "figures.py")


def difference(one: Path, other: Path) -> float:
    """The largest mean difference of a block of two pictures, from 0 to 1; 1 if their sizes differ."""
    with Image.open(one) as first, Image.open(other) as second:
        if first.size != second.size:
            return 1.0
        pixels = [np.asarray(picture.convert("L"), dtype=float) for picture in (first, second)]
    apart = np.abs(pixels[0] - pixels[1]) / 255
    rows, columns = (range(0, size, BLOCK) for size in apart.shape)
    sums = np.add.reduceat(np.add.reduceat(apart, rows, axis=0), columns, axis=1)
    return float(sums.max() / BLOCK**2)


def check_same(name: str, drawn: Path, command: str) -> None:
    command = f"python docs/figures.py {command}"
    assert difference(DOCS / f"{name}.png", drawn) < LEAST, f"draw docs/{name}.png again and look at it: {command}"


def test_every_figure_of_the_docs_has_its_command() -> None:
    shown = {path.stem for path in DOCS.glob("*.png")}
    named = {*figures().FIGURES, figures().TREE}
    assert {name for name in shown if not name.startswith("page_")} == named
    pages = "".join(path.read_text() for path in (*DOCS.glob("*.md"), PROJECT / "README.md"))
    assert shown == set(re.findall(r"\((?:docs/)?(\w+)\.png\)", pages))


FIGURES = [path.stem for path in sorted(DOCS.glob("*.png")) if not path.stem.startswith("page_")]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_the_docs_is_what_its_command_draws(name: str, tmp_path: Path) -> None:
    figures().draw(name, tmp_path)
    check_same(name, tmp_path / f"{name}.png", name)


def test_a_changed_digit_in_a_figure_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = figures().TITLES
    monkeypatch.setattr(figures(), "TITLES", titles | {"othello": titles["othello"].replace("11", "10")})
    figures().draw("strength_by_time", tmp_path)
    with pytest.raises(AssertionError, match=r"python docs/figures\.py strength_by_time"):
        check_same("strength_by_time", tmp_path / "strength_by_time.png", "strength_by_time")
