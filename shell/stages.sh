# Sourced by a shell loop: sets $levels, and defines `stage`, which runs a script of the project and waits for it.
#
#   stage train/train_agent.py --level 1 "$@"
#
# All stages run in one Python process, because importing torch takes longer than most of them. That process starts the
# loop: the first time a script sources this file, it is replaced by shell/run_loop.py, which runs it again.

if [ -z "${STAGE_REQUESTS:-}" ]; then
    source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
    exec python "$project/shell/run_loop.py" "$0" "$@"
fi

levels="$LEVELS"
stage_requests="$STAGE_REQUESTS" stage_results="$STAGE_RESULTS"
# Another loop, started by this one, has a process of its own.
unset LEVELS STAGE_REQUESTS STAGE_RESULTS

stage() {
    printf '%s\0' "$#" "$@" >&"$stage_requests"
    # Without an answer the stage has failed, and the process has ended with its exit code.
    read -r _ <&"$stage_results" || exit 1
}
