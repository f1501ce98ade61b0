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

# uv chooses the build of torch that suits the machine: without a GPU the one for the CPU, with which .venv takes 1.6 GB.
# It needs the index of PyTorch for this. pip takes the build that its own index offers, on Linux usually the one for
# CUDA, with which .venv takes 5.4 GB.
install_project() {
    local what="${project}[page${EXTRAS:+,$EXTRAS}]" python="$project/.venv/bin/python" uv error
    # Unlike options, the variables also apply to the packages that build the project.
    local -x PIP_CONSTRAINT="$project/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_USE_PEP517=1
    local -x UV_CONSTRAINT="$PIP_CONSTRAINT" UV_BUILD_CONSTRAINT="$PIP_CONSTRAINT"
    if ! uv="$(command -v uv)"; then
        uv="$project/.venv/bin/uv"
        [ -x "$uv" ] || "$python" -m pip install --quiet uv 2>/dev/null
    fi
    # Asked for torch alone, with one retry, it fails within seconds where that index cannot be reached.
    local install=(pip install --quiet --python "$python" --torch-backend=auto)
    if error="$(UV_HTTP_RETRIES=1 "$uv" "${install[@]}" --dry-run --no-deps --reinstall torch 2>&1)" &&
        error="$("$uv" "${install[@]}" --editable "$what" 2>&1)"; then
        return
    fi
    echo "uv cannot install the project (${error##*: }), so pip does"
    if [ "$(uname)" = Linux ] && ! command -v nvidia-smi >/dev/null && ! has_torch && ! pip_offers_torch_for_cpu; then
        echo "pip installs torch with CUDA libraries: .venv will take 5.4 GB; with the build for the CPU it would be 1.6"
    fi
    "$python" -m pip install --quiet --editable "$what"
}

has_torch() {
    compgen -G "$project/.venv/lib/python*/site-packages/torch" >/dev/null
}

# True if pip finds the build for the CPU of the version in constraints.txt, for example in a folder of wheels.
pip_offers_torch_for_cpu() {
    local version
    version="$(sed -n 's/^torch==//p' "$project/constraints.txt")"
    "$project/.venv/bin/python" -m pip index versions torch 2>/dev/null | grep -F " $version+cpu" >/dev/null
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
