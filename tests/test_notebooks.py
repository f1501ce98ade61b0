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
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    kept = [kinds(cell) for cell in notebook.cells]
    for cell in notebook.cells:
        cell.source = cell.source.replace("matches=20_000", "matches=1_000").replace("epochs=10", "epochs=2")
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


@pytest.mark.slow
def test_the_code_of_the_notebooks_passes_a_users_type_check(tmp_path: Path) -> None:
    mypy_api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    for path in NOTEBOOKS:
        cells = [cell["source"] for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        code = [line for cell in cells for line in [*cell, "\n"] if not line.startswith("%")]
        (tmp_path / f"{path.stem}.py").write_text("".join(code))
    # The types of torch take as long to read as all others.
    left_out = "[mypy-pandas.*]\nignore_missing_imports = True\n[mypy-torch.*]\nfollow_imports = skip\n"
    (tmp_path / "mypy.ini").write_text(f"[mypy]\n{left_out}")
    files = [str(tmp_path / f"{path.stem}.py") for path in NOTEBOOKS]
    # Errors inside an installed package are not shown to its users.
    arguments = ["--strict", "--follow-imports=silent", "--config-file", str(tmp_path / "mypy.ini")]
    arguments += ["--cache-dir", str(PROJECT / ".mypy_cache" / "of_users")]
    output, errors, status = mypy_api.run([*arguments, *files])
    assert (status, errors) == (0, ""), output
