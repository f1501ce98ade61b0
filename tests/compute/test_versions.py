"""What all compiled functions depend on."""

import ast
from pathlib import Path

import pytest

from selfplay.compute import versions
from selfplay.compute.versions import PACKAGE, SOURCES_OF_COMPILER

EXTENDING = (
    *("numba.core", "numba.extending", "llvmlite"),
    *(f"selfplay.compute.compiled_word_type.{name}" for name in ("in_compiled_code", "define")),
)
"""What begins the names of what extends it."""
NOT_CODE = {"numba.core.compiler_lock", "numba.core.event"}
"""Modules in the core of numba that do not change what it compiles."""


@pytest.mark.parametrize("folder", ["compute", "games"])
def test_only_the_sources_that_extend_the_compiler_count_for_all_functions(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.setattr(versions, "PACKAGE", tmp_path)
    digests = set()
    for text in ("A = 1\n", "A = 2\n"):
        (tmp_path / folder / "file.py").write_text(text)
        digests.add(versions.compiler_digest.__wrapped__())
    assert (len(digests) == 2) == (folder in SOURCES_OF_COMPILER)


def test_no_other_sources_extend_the_compiler() -> None:
    """Functions do not refer to what extends the compiler, so the digest of those sources must contain it."""
    extending = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if not any(module in text for module in ("numba", "llvmlite", "compiled_word_type")):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = getattr(node, "module", None) or ""
            for name in (f"{module}.{name}" if module else name for name in names):
                if name.startswith(EXTENDING) and not NOT_CODE & {name, module}:
                    extending.add(path.relative_to(PACKAGE).parts[0])
    assert extending == {"compute"}
    assert extending < set(SOURCES_OF_COMPILER)
