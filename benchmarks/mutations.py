"""Change the library at random, one place at a time, and count how many of the changes the quick tests notice.

    python benchmarks/mutations.py --changes 16 --folder outputs/mutations    # the same command resumes
    python benchmarks/mutations.py --folder outputs/mutations --again         # those that lived, after new tests

A change replaces a comparison, an arithmetic operator, a logical one, or a whole number in a function of `selfplay/` or
`architectures/`, in a copy of the project: first a file is drawn, then a place in it; messages are left alone. Then the
quick tests of the same package run, and those elsewhere that name the changed function or class, up to the first that
fails. A change is noticed if a test fails, or takes minutes; at the end these tests must pass without a change.

`changes.csv` in the folder has a row per change. Somebody who has looked at one that lives and found that nobody can
see it writes `equivalent: ` and the reason in place of its outcome; it is then left out of the share.
"""

import project_environment

import argparse
import ast
import csv
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, cast

import pytest

from selfplay.cli.entry import reporting_errors
from selfplay.errors import StageError
from selfplay.games.win_draw_loss import wilson_interval

PROJECT = project_environment.PROJECT
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "outputs", "*_cache", ".cache", "__pycache__", "*.egg-info", "site")
REPLACED: dict[type[ast.AST], list[type[ast.AST]]] = {
    **{ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt]},
    **{ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn]},
    **{ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Add], ast.FloorDiv: [ast.Mult], ast.Div: [ast.Mult]},
    **{ast.And: [ast.Or], ast.Or: [ast.And], ast.LShift: [ast.RShift], ast.RShift: [ast.LShift]},
}
MEMORY = 8 << 30
"""Bytes that a process of the tests may use: a changed loop may never end."""
LONGEST_TEST = 180
"""Seconds."""


@dataclass
class Change:
    """One change of a file, and what came of it."""

    path: str
    line: int
    column: int
    """In bytes, as `ast` counts."""
    before: str
    after: str
    outcome: str = ""
    """`noticed`, `lives`, `equivalent: ...`, or empty before it was tried."""
    test: str = ""
    """The first one that failed."""


def places(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The expressions that can be changed, and where: an operator of theirs, or the number itself."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in REPLACED:
            yield node, node.ops[0]
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in REPLACED:
            yield node, node.op
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node, node
        yield from places(node)


def places_in_functions(tree: ast.AST) -> list[tuple[ast.expr, ast.AST]]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = [place for one in functions for statement in one.body for place in places(ast.Module([statement], []))]
    return list(dict(found).items())  # a function within another one is met twice


def drawn(count: int, seed: int) -> list[Change]:
    """Random changes at different places."""
    chance, found = random.Random(seed), dict[tuple[str, int, int, str], Change]()
    roots = [PROJECT / "selfplay", PROJECT / "architectures"]
    paths = sorted(path for root in roots for path in root.rglob("*.py") if "conf" not in path.parts)
    while len(found) < count:
        path = chance.choice(paths)
        if not (all_places := places_in_functions(ast.parse(path.read_bytes()))):
            continue
        node, part = chance.choice(all_places)
        before = ast.unparse(node)
        if isinstance(node, ast.Constant):
            node.value += 1
        elif isinstance(node, ast.Compare):
            node.ops[0] = chance.choice(REPLACED[type(part)])()
        else:
            node.op = chance.choice(REPLACED[type(part)])()
        change = Change(str(path.relative_to(PROJECT)), node.lineno, node.col_offset, before, ast.unparse(node))
        found[change.path, change.line, change.column, before] = change
    return list(found.values())


def changed(source: str, change: Change) -> str:
    """A file after the change. Only the lines of the expression are new, so that the others keep their numbers."""
    for node, _ in places_in_functions(ast.parse(source)):
        if (node.lineno, node.col_offset, ast.unparse(node)) == (change.line, change.column, change.before):
            lines = source.splitlines(keepends=True)
            head = lines[node.lineno - 1].encode()[: node.col_offset].decode()
            tail = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
            lines[node.lineno - 1 : node.end_lineno] = [f"{head}({change.after}){tail}"]
            return "".join(lines)
    raise StageError(f"{change.path}:{change.line} no longer has {change.before}: draw the changes again")


def tests_of(change: Change) -> list[str]:
    """The test files of a change's package, and of others those that name its function or class; first those that
    mention most names of the file."""
    (folder, *below), tree = Path(change.path).parts, ast.parse((PROJECT / change.path).read_bytes())
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    around = {node.name for node in defined if node.lineno <= change.line <= node.end_lineno}
    around = {name for name in around if re.search("[a-z]_|[A-Z]", name)}  # others are words of many meanings
    names = {node.name for node in defined} | {Path(change.path).stem}
    package = PROJECT / "tests" / (folder if folder == "architectures" else below[0])
    score = dict[Path, int]()
    for test in sorted((PROJECT / "tests").rglob("test_*.py")):
        words = {*re.findall(r"\w+", test.read_text(encoding="utf-8"))}
        if test.is_relative_to(package) or words & around:
            in_title = {*re.findall("[a-z]+", change.path)} & {*test.stem.split("_")[1:]}
            score[test] = len(names & words) + 5 * len(in_title)
    found = sorted(score, key=lambda test: -score[test]) or [PROJECT / "tests" / "test_library.py"]
    return [str(one.relative_to(PROJECT)) for one in found]


ZYGOTE = """
import json, os, sys
import hydra, hypothesis, matplotlib.figure, numba, pandas, pyarrow, pytest, torch

for line in sys.stdin:
    arguments, output = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setsid()
        for number, name in enumerate([os.devnull, output, output]):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        code = pytest.main(arguments)
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs pytest in forks of itself, which need not import again what takes seconds."""


class Copy:
    """A copy of the project, in which tests are run."""

    def __init__(self, folder: Path) -> None:
        self.project, self._output = folder.resolve() / "project", folder.resolve() / "output.txt"
        shutil.rmtree(self.project, ignore_errors=True)
        shutil.copytree(PROJECT, self.project, ignore=LEFT_OUT, symlinks=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", ZYGOTE],
            cwd=self.project,
            env={**os.environ, "PYTHONPATH": str(self.project), "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
        )

    def failures(self, tests: list[str], *options: str) -> list[str]:
        """The quick ones of these tests that fail, or take too long; empty if all pass."""
        self._output.unlink(missing_ok=True)
        limit = ["-o", f"faulthandler_timeout={LONGEST_TEST}"]
        arguments = ["-v", "-m", "not slow", "-p", "no:cacheprovider", *limit, *options, *tests]
        stdin, stdout = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        stdin.write(json.dumps([arguments, str(self._output)]) + "\n")
        stdin.flush()
        child, code = int(stdout.readline()), int(stdout.readline())
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests have left behind
        if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            return []
        said = self._output.read_text(encoding="utf-8", errors="replace")
        begun = re.findall(r"^(tests/.*?::.*?) (FAILED|ERROR|PASSED|SKIPPED|)", said, flags=re.MULTILINE)
        failed = [test for test, outcome in begun if outcome in ("FAILED", "ERROR")]
        errors = re.findall(r"^E  +(.*)", said, flags=re.MULTILINE)
        return failed or [test for test, _ in begun[-1:]] or errors[-1:] or [f"exit code {code}"]


def try_change(copy: Copy, change: Change, most: int | None) -> None:
    """Write into a change what came of it in the first of its test files, at most this number; take it back."""
    file = copy.project / change.path
    kept = file.read_text(encoding="utf-8")
    file.write_text(changed(kept, change), encoding="utf-8")
    try:
        change.test = next(iter(copy.failures(tests_of(change)[:most], "-x")), "")
        change.outcome = "noticed" if change.test else "lives"
    finally:
        file.write_text(kept, encoding="utf-8")


def check_failures(copy: Copy, changes: list[Change]) -> None:
    """The tests that noticed a change must pass without it; otherwise nothing is known of the change."""
    noticed = {change.test for change in changes if "::" in change.test}
    failing = copy.failures(sorted(noticed)) if noticed else []
    for change in changes:
        if change.test in failing:
            print(f"{change.test} fails without a change too")
            change.outcome = change.test = ""


def read_changes(table: Path) -> list[Change]:
    with table.open(newline="") as file:
        return [
            Change(**{**row, "line": int(row["line"]), "column": int(row["column"])}) for row in csv.DictReader(file)
        ]


def write_changes(table: Path, changes: list[Change]) -> None:
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(Change.__dataclass_fields__))
        writer.writeheader()
        writer.writerows(asdict(change) for change in changes)


def summary(changes: list[Change]) -> str:
    noticed = sum(one.outcome == "noticed" for one in changes)
    visible = noticed + sum(one.outcome == "lives" for one in changes)
    low, high = wilson_interval(noticed, visible)
    return (
        f"{noticed} of {visible} changes noticed: {noticed / visible:.1%} (95 % interval {low:.1%} to {high:.1%}); "
        f"{sum(one.outcome.startswith('equivalent') for one in changes)} others change nothing that can be seen"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True, help="keeps the results and the copy of the project")
    parser.add_argument("--files", type=int, help="a quick look: run only this number of test files for each change")
    parser.add_argument("--again", action="store_true", help="try again those that live")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    table, copy = given.folder / "changes.csv", Copy(given.folder)
    changes = read_changes(table) if table.exists() else drawn(given.changes, given.seed)
    for number, change in enumerate(changes, start=1):
        if change.outcome and not (given.again and change.outcome == "lives"):
            continue
        began = time.perf_counter()
        try_change(copy, change, given.files)
        write_changes(table, changes)
        place = f"{number}: {change.path}:{change.line}: {change.before} -> {change.after}"
        print(f"{place}: {change.outcome} ({time.perf_counter() - began:.0f} s) {change.test}", flush=True)
    check_failures(copy, changes)
    write_changes(table, changes)
    print(summary(changes))


if __name__ == "__main__":
    with reporting_errors():
        main()
