"""shell/environment.sh: which Python the shell scripts use, and when they install the project."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.runs import PROJECT


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def clone(tmp_path):
    """A clone of the project with its own .venv, whose python records what it installs in the file `calls`."""
    project = tmp_path / "clone"
    shutil.copytree(PROJECT / "shell", project / "shell")
    for name in ("pyproject.toml", "constraints.txt"):
        (project / name).touch()
    binaries = project / ".venv" / "bin"
    executable(binaries / "python", f'[ "$3" = --version ] || echo "$PIP_CONSTRAINT $@" >>{project}/calls')
    (binaries / "activate").write_text(f"PATH={binaries}:$PATH\n")
    (project / ".venv" / "installed").touch()
    return project


def sourced(project, path=None, **variables):
    """The exit code of environment.sh; what it prints, then the project and the python that would run; its errors."""
    commands = f'source "{project}/shell/environment.sh"; echo "$project"; command -v python'
    environment = {"PATH": path or os.environ["PATH"], **variables}
    result = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", commands], check=False, capture_output=True, text=True, env=environment
    )
    return result.returncode, result.stdout.splitlines(), result.stderr


def active_environment(folder, installed):
    """The variables of an active environment with the package of the project at `installed`."""
    (installed / "selfplay").mkdir(parents=True)
    (installed / "selfplay" / "__init__.py").touch()
    python = executable(folder / "bin" / "python", f'PYTHONPATH={installed} exec {sys.executable} "$@"')
    return {"path": f"{python.parent}:{os.environ['PATH']}", "VIRTUAL_ENV": str(folder)}


def test_the_active_environment_is_used_if_the_project_is_installed_there(clone, tmp_path):
    code, lines, _ = sourced(clone, **active_environment(tmp_path / "active", clone))
    assert (code, lines) == (0, [str(clone), str(tmp_path / "active" / "bin" / "python")])
    assert not (clone / "calls").exists()


@pytest.mark.parametrize("is_active", [True, False], ids=["active without the project", "none active"])
def test_the_environment_of_the_project_is_used_otherwise(clone, tmp_path, is_active):
    empty = executable(tmp_path / "active" / "bin" / "python", "exit 1")
    path = f"{empty.parent}:{os.environ['PATH']}"
    code, lines, _ = sourced(clone, path, **({"VIRTUAL_ENV": str(empty.parent.parent)} if is_active else {}))
    assert (code, lines) == (0, [str(clone), str(clone / ".venv" / "bin" / "python")])
    assert not (clone / "calls").exists()


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_an_environment_older_than_its_requirements_is_installed_again(clone, changed):
    os.utime(clone / ".venv" / "installed", (1, 1))
    os.utime(clone / ({"pyproject.toml", "constraints.txt"} - {changed}).pop(), (0, 0))
    code, lines, _ = sourced(clone)
    assert code == 0
    assert lines[-1] == str(clone / ".venv" / "bin" / "python")
    calls = (clone / "calls").read_text()
    assert calls.startswith(f"{clone}/constraints.txt -m pip install ")
    assert calls.endswith(f"--editable {clone}[page]\n")
    # The second time there is nothing to install.
    assert sourced(clone)[1] == [str(clone), str(clone / ".venv" / "bin" / "python")]
    assert (clone / "calls").read_text() == calls


def test_the_distribution_with_the_earlier_name_is_replaced(clone):
    old = clone / ".venv" / "lib" / "python3.11" / "site-packages" / "selfplay-0.1.0.dist-info"
    old.mkdir(parents=True)
    record = f'[ "$3" = --version ] || echo "$@" >>{clone}/calls'
    executable(clone / ".venv" / "bin" / "python", f'{record}; [ "$3" != uninstall ] || rmdir {old}')
    for _ in range(2):
        assert sourced(clone)[1][-1] == str(clone / ".venv" / "bin" / "python")
        assert [call.split()[2] for call in (clone / "calls").read_text().splitlines()] == ["uninstall", "install"]


@pytest.mark.parametrize("works", [True, False], ids=["it works", "it fails"])
def test_uv_chooses_the_build_of_torch_where_it_is_installed(clone, tmp_path, works):
    (clone / ".venv" / "installed").unlink()
    uv = executable(tmp_path / "bin" / "uv", f'echo "$UV_CONSTRAINT $@" >>{clone}/uv; {str(works).lower()}')
    code, lines, _ = sourced(clone, f"{uv.parent}:{os.environ['PATH']}")
    assert (code, lines[-1]) == (0, str(clone / ".venv" / "bin" / "python"))
    call = (clone / "uv").read_text()
    assert call.startswith(f"{clone}/constraints.txt pip install ")
    assert " --torch-backend=auto " in call
    assert call.endswith(f"--editable {clone}[page]\n")
    assert (clone / "calls").exists() != works


@pytest.mark.parametrize(
    ("system", "others", "is_told"),
    [("Linux", [], True), ("Linux", ["nvidia-smi"], False), ("Linux", ["torch"], False), ("Darwin", [], False)],
)
def test_a_large_download_is_announced_with_how_to_avoid_it(clone, tmp_path, system, others, is_told):
    (clone / ".venv" / "installed").unlink()
    executable(tmp_path / "bin" / "uname", f"echo {system}")
    if "nvidia-smi" in others:
        executable(tmp_path / "bin" / "nvidia-smi", "true")
    if "torch" in others:
        (clone / ".venv" / "lib" / "python3.11" / "site-packages" / "torch").mkdir(parents=True)
    executable(tmp_path / "bin" / "python3", f'exec {sys.executable} "$@"')
    for name in ("dirname", "touch"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    code, lines, error = sourced(clone, str(tmp_path / "bin"))
    assert (code, error) == (0, "")
    assert [line for line in lines if "6 GB" in line and "install uv" in line] == lines[1:-2] * is_told
    assert len(lines) == 3 + is_told


def test_a_failed_installation_leaves_no_stamp(clone):
    (clone / ".venv" / "installed").unlink()
    executable(clone / ".venv" / "bin" / "python", '[ "$3" = --version ]')
    code, _, _ = sourced(clone)
    assert code == 1
    assert not (clone / ".venv" / "installed").exists()


def test_an_environment_whose_making_was_killed_before_it_had_pip_is_made_again(clone, tmp_path):
    (clone / ".venv" / "installed").unlink()
    executable(clone / ".venv" / "bin" / "python", f"[ -e {clone}/made ]")
    executable(tmp_path / "bin" / "python3", f'[ "$1" = -c ] || echo "$@" >{clone}/made')
    code, lines, _ = sourced(clone, f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert (code, lines[-1]) == (0, str(clone / ".venv" / "bin" / "python"))
    assert (clone / "made").read_text() == f"-m venv {clone}/.venv\n"


def test_without_a_recent_python_there_is_one_line_of_error(clone, tmp_path):
    (clone / ".venv" / "installed").unlink()
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "dirname").symlink_to(shutil.which("dirname"))
    executable(bare / "python3", "exit 1")
    code, lines, error = sourced(clone, str(bare))
    assert (code, lines) == (1, [])
    assert error == "error: Python 3.11 or newer is needed, and none was found\n"
