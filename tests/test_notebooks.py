"""docs/notebooks/: every notebook runs from the top, and keeps small outputs."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.runs import PROJECT

NOTEBOOKS = sorted((PROJECT / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 100_000
"""Bytes of a notebook with its outputs."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_small_outputs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert path.stat().st_size < LARGEST
    assert cells[0]["source"][0].startswith("# ")
    assert sum(bool(cell["outputs"]) for cell in cells if cell["cell_type"] == "code") >= 4
    assert "/tmp/" not in path.read_text()


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("nbclient") is None or find_spec("ipykernel") is None,
    reason="nbclient and ipykernel are not installed (pip install -e '.[notebooks]')",
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_the_same_kinds_of_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    notebook = nbformat.read(path, as_version=4)
    kept = [kinds(cell) for cell in notebook.cells]
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    assert [kinds(cell) for cell in notebook.cells] == kept


def kinds(cell: dict) -> set[str]:
    """The kinds of the outputs of a cell, such as {"stdout"} or {"text/html"}."""
    found = set()
    for output in cell.get("outputs", ()):
        found |= {output["name"]} if output["output_type"] == "stream" else shown(output["data"])
    return found - {"stderr"}


def shown(data: dict) -> set[str]:
    return set(data) - {"text/plain"} or {"text/plain"}
