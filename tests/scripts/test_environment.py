"""shell/environment.sh: which Python the shell scripts use, and when they install the project."""

import os
import re
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
    executable(
        binaries / "python", f'[[ "$3" = --version || "$3" = index ]] || echo "$PIP_CONSTRAINT $@" >>{project}/calls'
    )
    # The uv of this machine is not found before it.
    executable(tmp_path / "tools" / "uv", "echo 'error: x\n  cause: no such index'; false")
    (binaries / "activate").write_text(f"PATH={binaries}:$PATH\n")
    (project / ".venv" / "installed").touch()
    return project


def sourced(project, path=None, **variables):
    """The exit code of environment.sh; what it prints, then the project and the python that would run; its errors."""
    commands = f'source "{project}/shell/environment.sh"; echo "$project"; command -v python'
    path = path or f"{project.parent / 'tools'}:{os.environ['PATH']}"
    environment = {"PATH": path, **variables}
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
    record = f'[[ "$3" = --version || "$3" = index ]] || echo "$@" >>{clone}/calls'
    executable(clone / ".venv" / "bin" / "python", f'{record}; [ "$3" != uninstall ] || rmdir {old}')
    for _ in range(2):
        assert sourced(clone)[1][-1] == str(clone / ".venv" / "bin" / "python")
        assert [call.split()[2] for call in (clone / "calls").read_text().splitlines()] == ["uninstall", "install"]


def test_uv_chooses_the_build_of_torch_and_installs_the_project(clone):
    (clone / ".venv" / "installed").unlink()
    executable(clone.parent / "tools" / "uv", f'echo "$UV_HTTP_RETRIES $UV_CONSTRAINT $@" >>{clone}/uv')
    code, lines, error = sourced(clone)
    assert (code, len(lines), error) == (0, 3, "")
    asked, installed = (clone / "uv").read_text().splitlines()
    # Where the index of torch cannot be reached, this is found out within seconds.
    assert asked.startswith(f"1 {clone}/constraints.txt pip install ")
    assert "--dry-run" in asked
    assert installed.startswith(f" {clone}/constraints.txt pip install ")
    assert installed.endswith(f"--editable {clone}[page]")
    assert all(" --torch-backend=auto " in call for call in (asked, installed))
    assert not (clone / "calls").exists()


@pytest.mark.parametrize("failing", ["--dry-run", "--editable"], ids=["no index of torch", "no installation"])
def test_where_uv_fails_pip_installs_the_project_and_one_line_says_so(clone, failing):
    (clone / ".venv" / "installed").unlink()
    told = "echo 'error: Request failed'; echo '  cause: failed to look up: Name not known'"
    executable(clone.parent / "tools" / "uv", f'case "$*" in *{failing}*) {told}; exit 1;; esac')
    executable(clone.parent / "tools" / "nvidia-smi", "true")
    code, lines, error = sourced(clone)
    assert (code, error) == (0, "")
    assert lines[1:-2] == ["uv cannot install the project (Name not known), so pip does"]
    assert (clone / "calls").read_text().endswith(f"--editable {clone}[page]\n")


def bare_tools(clone):
    """A folder with the few programs that the script needs; uv is not among them."""
    folder = clone.parent / "bare"
    executable(folder / "python3", f'exec {sys.executable} "$@"')
    for name in ("dirname", "touch", "sed", "grep"):
        (folder / name).symlink_to(shutil.which(name))
    executable(folder / "uname", "echo Linux")
    return folder


def test_without_uv_it_is_installed_in_the_environment_and_used(clone):
    (clone / ".venv" / "installed").unlink()
    uv = clone / ".venv" / "bin" / "uv"
    made = executable(clone.parent / "made", f'echo "$@" >>{clone}/uv')
    pip = f'[ "$3 $4 $5" != "install --quiet uv" ] || mv {made} {uv}'
    executable(clone / ".venv" / "bin" / "python", f'echo "$PIP_CONSTRAINT $@" >>{clone}/calls; {pip}')
    (bare_tools(clone) / "mv").symlink_to(shutil.which("mv"))
    code, lines, error = sourced(clone, str(clone.parent / "bare"))
    assert (code, len(lines), error) == (0, 3, "")
    assert f"{clone}/constraints.txt -m pip install --quiet uv\n" in (clone / "calls").read_text()
    assert (clone / "uv").read_text().endswith(f"--editable {clone}[page]\n")
    assert re.search(r"^uv==\d", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("system", "others", "offered", "is_told"),
    [
        ("Linux", [], "2.14.0, 2.13.0, 2.12.0", True),
        ("Linux", [], "2.14.0, 2.13.0+cpu, 2.13.0", False),
        ("Linux", ["nvidia-smi"], "2.13.0", False),
        ("Linux", ["torch"], "2.13.0", False),
        ("Darwin", [], "2.13.0", False),
    ],
)
def test_a_large_download_is_announced_where_pip_would_make_it(clone, system, others, offered, is_told):
    (clone / ".venv" / "installed").unlink()
    (clone / "constraints.txt").write_text("torch==2.13.0\n")
    folder = bare_tools(clone)
    executable(folder / "uname", f"echo {system}")
    versions = f'[ "$3" != index ] || echo "Available versions: {offered}"'
    executable(clone / ".venv" / "bin" / "python", f'{versions}; [ "$5" != uv ]')
    if "nvidia-smi" in others:
        executable(folder / "nvidia-smi", "true")
    if "torch" in others:
        (clone / ".venv" / "lib" / "python3.11" / "site-packages" / "torch").mkdir(parents=True)
    code, lines, error = sourced(clone, str(folder))
    assert (code, error) == (0, "")
    assert [line for line in lines if "CUDA" in line] == lines[2:-2]
    assert len(lines) == 4 + is_told


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
