# Activate a Python environment in which the project runs. Sourced by the scripts; sets $project. When executed
# (bash shell/environment.sh), it only makes the environment.
#
# Uses the active environment if this checkout is installed in it, else the project's own .venv, which is created or
# updated if it is missing, older than pyproject.toml or constraints.txt, or has the distribution of version 0.1.0.
# EXTRAS names the optional dependencies that are needed besides those of the page.

project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

# True if this Python has the required packages, and selfplay is installed from this checkout and not from another one.
can_run() {
    (cd / && "$1" - "$project" fastapi uvicorn ${EXTRAS:+pytest ruff mypy playwright schemathesis httpx2}) 2>/dev/null <<'PYTHON'
import sys
from importlib.util import find_spec

project, *needed = sys.argv[1:]
spec = find_spec("selfplay")
sys.exit(spec is None or not spec.origin.startswith(f"{project}/") or not all(map(find_spec, needed)))
PYTHON
}

# The distribution selfplay-boards was called selfplay in version 0.1.0; both would own the command selfplay.
has_old_distribution() {
    compgen -G "$project/.venv/lib/python*/site-packages/selfplay-*.dist-info" >/dev/null
}

# uv installs the build of torch that suits the machine: without an NVIDIA GPU the one for the CPU. pip takes the build
# that its index offers, which on Linux is usually the one with CUDA libraries.
install_project() {
    local what="${project}[page${EXTRAS:+,$EXTRAS}]" constraints="$project/constraints.txt"
    # Unlike options, the variables also apply to the packages that build the project.
    if command -v uv >/dev/null; then
        UV_CONSTRAINT="$constraints" UV_BUILD_CONSTRAINT="$constraints" uv pip install --quiet --torch-backend=auto \
            --python "$project/.venv/bin/python" --editable "$what" && return
        echo "uv could not install the project; pip is used instead"
    fi
    if [ "$(uname)" = Linux ] && ! command -v nvidia-smi >/dev/null && ! has_torch; then
        echo "pip may download torch with CUDA libraries, 6 GB. No NVIDIA GPU was found, so 0.4 GB is enough:" \
            "stop this, install uv (python3 -m pip install uv), and run it again."
    fi
    PIP_CONSTRAINT="$constraints" "$project/.venv/bin/python" -m pip install \
        --quiet --disable-pip-version-check --editable "$what"
}

has_torch() {
    compgen -G "$project/.venv/lib/python*/site-packages/torch" >/dev/null
}

make_environment() {
    local python
    for python in python3 python3.13 python3.12 python3.11 python; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "Setting up $project/.venv (only once; it takes a few minutes)"
            # Without pip, an earlier set-up was interrupted.
            "$project/.venv/bin/python" -m pip --version >/dev/null 2>&1 ||
                "$python" -m venv "$project/.venv" || return 1
            if has_old_distribution; then
                rm -f "$project"/.venv/installed*
                # Not in this folder, where pip would also find what an old build has left.
                (cd / && "$project/.venv/bin/python" -m pip uninstall --quiet --disable-pip-version-check --yes selfplay) ||
                    return 1
            fi
            install_project || return 1
            touch "$project/.venv/installed${EXTRAS:+-$EXTRAS}"
            return 0
        fi
    done
    echo "error: Python 3.11 or newer is needed, and none was found" >&2
    return 1
}

is_current() {
    local stamp="$project/.venv/installed${EXTRAS:+-$EXTRAS}"
    [ -e "$stamp" ] && [ ! "$project/pyproject.toml" -nt "$stamp" ] && [ ! "$project/constraints.txt" -nt "$stamp" ] &&
        ! has_old_distribution
}

if [ -n "${VIRTUAL_ENV:-}" ] && [ "$VIRTUAL_ENV" != "$project/.venv" ] && can_run python; then
    : # use the active environment
else
    is_current || make_environment || exit 1
    # shellcheck source=/dev/null
    source "$project/.venv/bin/activate"
fi
