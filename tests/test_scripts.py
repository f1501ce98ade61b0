"""The scripts: what they leave, that a kill changes no byte of it, the shell's part, and how the code is laid out."""

import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from selfplay.games import GAMES
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.compare import compare_and_report
from selfplay.stages.draw_figures import draw_run_figures
from tests.support.runs import LEARN, PROJECT, TINY, files_of, run_script, tiny_settings

SHELL_SCRIPTS = [*sorted(PROJECT.glob("*.sh")), *sorted(PROJECT.glob("shell/*.sh")), PROJECT / ".ci" / "run"]
STAGE_SCRIPTS = [path for folder in ("preprocessing", "train", "play") for path in (PROJECT / folder).glob("*.py")]
MODULES = [path for folder in ("selfplay", "architectures") for path in (PROJECT / folder).rglob("*.py")]

LOOP = [*TINY, "levels=2", "comparison.matches=50"]

COLUMNS = [
    "level",
    *("wins_vs_previous", "draws_vs_previous", "losses_vs_previous"),
    *("wins_vs_random", "draws_vs_random", "losses_vs_random"),
    *("exact_win_vs_random", "exact_draw_vs_random", "exact_loss_vs_random"),
    *("losing_lines_first", "losing_lines_second", "lines_first", "lines_second"),
    *("optimal_action_rate", "rating"),
]

FIGURES = ["exact.png", "loss_by_level.png", "losses.png", "ratings.png", "wins_minus_losses.png"]


def here():
    """The variables under which a shell script uses the environment that these tests run in."""
    return os.environ | {
        "VIRTUAL_ENV": sys.prefix + os.sep,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def shell_script(*arguments, cwd, **options):
    command = [str(PROJECT / "learn_tictactoe.sh"), *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=here(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# ---------------------------------------------------------------------- the loop


@pytest.fixture(scope="module")
def shell_run(tmp_path_factory):
    """A run by the shell script from another folder, with a relative run_dir: where it should be, words, seconds."""
    cwd = tmp_path_factory.mktemp("elsewhere")
    started = time.monotonic()
    with shell_script(*LOOP, "run_dir=runs/tiny", cwd=cwd) as process:
        output, error = process.communicate()
    assert process.returncode == 0, error
    return cwd / "runs" / "tiny", output, time.monotonic() - started


@pytest.mark.slow
def test_a_relative_run_dir_is_where_the_user_is(shell_run):
    run_dir, output, _ = shell_run
    assert [path.name for path in run_dir.parent.parent.iterdir()] == ["runs"]
    names = [f"level_{level:02d}" for level in range(3)]
    assert sorted(path.name for path in run_dir.iterdir() if path.is_dir()) == ["comparison", "figures", *names]
    assert "\nLevel 2 can" in output
    assert output.endswith("play/web.py run_dir=runs/tiny\n")


@pytest.mark.slow
def test_one_process_leaves_the_same_bytes_as_the_shell_loop(shell_run, tmp_path):
    run_dir, _, _ = shell_run
    result = run_script(LEARN, *LOOP, f"run_dir={tmp_path / 'run'}")
    assert result.returncode == 0, result.stderr
    assert files_of(tmp_path / "run") == files_of(run_dir)


@pytest.mark.slow
def test_killed_with_all_its_processes_the_shell_loop_ends_in_the_same_bytes(shell_run, tmp_path):
    finished, _, seconds = shell_run
    expected = files_of(finished)
    chance = random.Random(11)
    kills, seen, runs = 0, set(), 0
    while kills < 6 or runs < 1:
        run_dir = tmp_path / f"run{runs}"
        # Done stages pass quickly, so a kill up to half of a whole run's time falls anywhere in what is left.
        patience = chance.uniform(0.3, 0.5 * seconds) if kills < 6 else 600
        with shell_script(*LOOP, f"run_dir={run_dir}", cwd=tmp_path, start_new_session=True) as process:
            try:
                _, error = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                seen.add(len(files_of(run_dir)))
                kills += 1
                continue
        assert process.returncode == 0, error
        assert files_of(run_dir) == expected
        runs += 1
    # The kills hit different moments, or they would prove little.
    assert len(seen) > 2


def test_the_comparison_has_its_columns_and_the_figures_are_there(tiny_run, tmp_path):
    run_dir = tmp_path / "run"
    shutil.copytree(tiny_run, run_dir)
    settings = tiny_settings(run_dir, "comparison.matches=20")
    draw_run_figures(settings)
    report = compare_and_report(settings)
    assert report.splitlines()[-1].startswith("Play against it: ")
    for script in ("console", "web"):
        assert f"play/{script}.py run_dir={run_dir}" in report.splitlines()[-1]
    table = pd.read_csv(run_dir / "comparison" / "levels.csv")
    assert set(COLUMNS) <= set(table.columns)
    assert table["level"].tolist() == [0, 1, 2, 3]
    played = table[table["level"] > 0]
    for opponent in ("previous", "random"):
        results = [f"{result}_vs_{opponent}" for result in ("wins", "draws", "losses")]
        assert (played[results].sum(axis=1) == 20).all()
    exact = table[[f"exact_{outcome}_vs_random" for outcome in ("win", "draw", "loss")]]
    assert exact.sum(axis=1).tolist() == pytest.approx([1.0] * 4)
    assert sorted(path.name for path in (run_dir / "figures").iterdir()) == FIGURES
    for path in (run_dir / "figures").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")


# ---------------------------------------------------------------------- the shell's part


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=lambda path: path.name)
def test_bash_reads_every_script(script):
    assert subprocess.run(["bash", "-n", script], check=False, capture_output=True).stderr == b""
    assert os.access(script, os.X_OK) or script.parent.name == "shell"


def assert_refused(process, code, *named):
    output, error = process.communicate(timeout=120)
    assert (error.count("\n"), error[:7], output) == (1, "error: ", "")
    assert all(str(text) in error for text in named)
    assert process.returncode == code


def test_the_shell_loop_refuses_a_run_that_another_holds(tmp_path):
    with RunFolder(tmp_path).lock():
        process = shell_script(*LOOP, f"run_dir={tmp_path}", cwd=tmp_path)
        assert_refused(process, 1, "another process is using", tmp_path)
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize(
    ("argument", "code", "named"),
    [
        ("--levels=many", 2, "many"),
        ("--foo", 2, "unknown flag --foo"),
        ("--cfg=job", 2, "--cfg"),
        ("run_dir=file/run", 1, "cannot write in file/run"),
    ],
)
def test_the_shell_loop_says_in_one_line_what_is_wrong(tmp_path, argument, code, named):
    (tmp_path / "file").touch()
    assert_refused(shell_script(argument, cwd=tmp_path), code, named)


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def clone(tmp_path):
    """A clone of the project with a .venv of its own whose python writes down what it is told to do."""
    project = tmp_path / "clone"
    shutil.copytree(PROJECT / "shell", project / "shell")
    for name in ("pyproject.toml", "constraints.txt"):
        (project / name).touch()
    binaries = project / ".venv" / "bin"
    executable(binaries / "python", f'echo "$PIP_CONSTRAINT $@" >>{project}/told')
    (binaries / "activate").write_text(f"PATH={binaries}:$PATH\n")
    (project / ".venv" / "installed").touch()
    return project


def sourced(project, path=None, **variables):
    """What environment.sh says, and after it the project and the python that would run."""
    commands = f'source "{project}/shell/environment.sh"; echo "$project"; command -v python'
    environment = {"PATH": path or os.environ["PATH"], **variables}
    result = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", commands], check=False, capture_output=True, text=True, env=environment
    )
    return result.returncode, result.stdout.splitlines(), result.stderr


def active_environment(folder, installed):
    """An environment in which the package of the project at `installed` is found; its variables."""
    (installed / "selfplay").mkdir(parents=True)
    (installed / "selfplay" / "__init__.py").touch()
    python = executable(folder / "bin" / "python", f'PYTHONPATH={installed} exec {sys.executable} "$@"')
    return {"path": f"{python.parent}:{os.environ['PATH']}", "VIRTUAL_ENV": str(folder)}


def test_the_active_environment_is_used_if_the_project_is_installed_there(clone, tmp_path):
    code, lines, _ = sourced(clone, **active_environment(tmp_path / "active", clone))
    assert (code, lines) == (0, [str(clone), str(tmp_path / "active" / "bin" / "python")])
    assert not (clone / "told").exists()


def test_an_active_environment_with_another_checkout_is_not_used(clone, tmp_path):
    code, lines, _ = sourced(clone, **active_environment(tmp_path / "active", tmp_path / "another"))
    assert (code, lines) == (0, [str(clone), str(clone / ".venv" / "bin" / "python")])


@pytest.mark.parametrize("is_active", [True, False], ids=["active without the project", "none active"])
def test_the_projects_own_environment_is_used_otherwise(clone, tmp_path, is_active):
    empty = executable(tmp_path / "active" / "bin" / "python", "exit 1")
    path = f"{empty.parent}:{os.environ['PATH']}"
    code, lines, _ = sourced(clone, path, **({"VIRTUAL_ENV": str(empty.parent.parent)} if is_active else {}))
    assert (code, lines) == (0, [str(clone), str(clone / ".venv" / "bin" / "python")])
    assert not (clone / "told").exists()


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_an_environment_older_than_what_it_was_made_from_is_filled_again(clone, changed):
    os.utime(clone / ".venv" / "installed", (1, 1))
    os.utime(clone / ({"pyproject.toml", "constraints.txt"} - {changed}).pop(), (0, 0))
    code, lines, _ = sourced(clone)
    assert code == 0
    assert lines[-1] == str(clone / ".venv" / "bin" / "python")
    told = (clone / "told").read_text()
    assert told.startswith(f"{clone}/constraints.txt -m pip install ")
    assert told.endswith(f"--editable {clone}\n")
    # The next time nothing is left to do.
    assert sourced(clone)[1] == [str(clone), str(clone / ".venv" / "bin" / "python")]
    assert (clone / "told").read_text() == told


def test_the_extras_have_a_stamp_of_their_own(clone):
    code, _, _ = sourced(clone, EXTRAS="dev")
    assert code == 0
    assert (clone / "told").read_text().endswith(f"--editable {clone}[dev]\n")
    assert (clone / ".venv" / "installed-dev").exists()


def test_a_failed_installation_is_not_taken_for_a_whole_one(clone):
    (clone / ".venv" / "installed").unlink()
    executable(clone / ".venv" / "bin" / "python", "exit 1")
    code, _, _ = sourced(clone)
    assert code == 1
    assert not (clone / ".venv" / "installed").exists()


def test_a_machine_without_a_new_python_is_told_in_one_line(clone, tmp_path):
    (clone / ".venv" / "installed").unlink()
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "dirname").symlink_to(shutil.which("dirname"))
    executable(bare / "python3", "exit 1")
    code, lines, error = sourced(clone, str(bare))
    assert (code, lines) == (1, [])
    assert error == "error: Python 3.11 or newer is needed, and none was found\n"


# ---------------------------------------------------------------------- how the code is laid out


def dotted(path):
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", STAGE_SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_and_says_how_it_is_run(path):
    assert len(path.read_text().splitlines()) <= 40
    assert f"python {path.relative_to(PROJECT)}" in ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    "path", [path for path in [*MODULES, *STAGE_SCRIPTS] if path.parent != PROJECT / "selfplay" / "games"], ids=dotted
)
def test_no_game_is_treated_by_its_name_outside_games(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Compare, ast.MatchValue)):
            names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)} & set(GAMES)
            assert not names, f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.ImportFrom):
            assert node.module not in {f"selfplay.games.{name}" for name in GAMES}, f"line {node.lineno}"
