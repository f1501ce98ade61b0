"""docs/notebooks/: every notebook runs from the top, and keeps small outputs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.doc_pages import block_with
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


def test_the_game_of_the_notebook_is_that_of_the_docs() -> None:
    cells = json.loads((PROJECT / "docs" / "notebooks" / "a_game_of_your_own.ipynb").read_text())["cells"]
    magic, *lines = next(cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert magic == "%%writefile connect3.py\n"
    assert "".join(lines).strip() == block_with("adding_a_game.md", "class Connect3(Game)").strip()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One kernel for all notebooks: it takes seconds to start and to import the library."""
    client = pytest.importorskip("jupyter_client", reason="pip install -e '.[notebooks]' brings it")
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name, reason="pip install -e '.[notebooks]' brings it")
    manager = client.KernelManager(kernel_name="python3")
    folder = tmp_path_factory.mktemp("kernel")
    manager.start_kernel(cwd=str(folder), env={**os.environ, "PYTHONPATH": str(PROJECT), "IPYTHONDIR": str(folder)})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_the_outputs_that_it_keeps(path: Path, kernel: Any, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    kept = [outputs_of(cell) for cell in notebook.cells]
    # Nothing of an earlier notebook is left.
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}"))
    NotebookClient(notebook, km=kernel, timeout=600).execute()
    for cell, outputs in zip(notebook.cells[1:], kept, strict=True):
        assert outputs_of(cell) == outputs, cell.source


def outputs_of(cell: dict) -> dict[str, str]:
    """What a cell shows, by kind, such as stdout or text/html; of a picture only that there is one."""
    found: dict[str, str] = {}
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            found[output["name"]] = found.get(output["name"], "") + output["text"]
        else:
            found |= {kind: "" if kind.startswith("image/") else text for kind, text in output["data"].items()}
    found.pop("stderr", None)
    return found


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
