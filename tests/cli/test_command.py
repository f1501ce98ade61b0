"""The command line: flags beside overrides, and for all that can be wrong one line and an exit code."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hydra._internal.utils import get_args_parser

from selfplay.cli.arguments import FLAGS, HELP_FLAGS, HYDRA_FLAGS, HYDRA_FLAGS_WITH_VALUE, overrides_first
from selfplay.errors import SettingError
from selfplay.process_exit import INTERRUPTED, INTERRUPTED_MESSAGE
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.matches import MatchSettings, TournamentSettings
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Settings, compose_settings
from selfplay.settings.tabular import TabularSettings
from selfplay.settings.web import WebSettings
from tests.support.rejections import assert_refused
from tests.support.runs import (
    COMPARE,
    CONSOLE,
    GENERATE,
    PLOT,
    PROJECT,
    TINY,
    TRAIN,
    files_of,
    interrupted_when_there_is,
    interruptible,
    run_forked,
    run_script,
)

SCRIPTS = [path for folder in ("preprocessing", "train", "play") for path in sorted((PROJECT / folder).glob("*.py"))]
SCRIPTS = [path for path in SCRIPTS if path.name != "solve.py"]

# ---------------------------------------------------------------------- flags to overrides


@pytest.mark.parametrize(
    ("arguments", "overrides"),
    [
        ("", ""),
        ("--level 3", "level=3"),
        ("--level=3", "level=3"),
        ("--run-dir somewhere", "run_dir=somewhere"),
        ("--run_dir=somewhere", "run_dir=somewhere"),
        ("--seed -1", "seed=-1"),
        ("--seed=-1", "seed=-1"),
        ("gamma=0.5 --level 3 epsilons=[0.5,0.1]", "gamma=0.5 level=3 epsilons=[0.5,0.1]"),
        ("--level 3 level=4", "level=3 level=4"),
        ("+hydra.verbose=true ~seed ++seed=1", "+hydra.verbose=true ~seed ++seed=1"),
        ("--cfg job --level 3", "level=3 --cfg job"),
        ("-c job seed=1 --package game", "seed=1 -c job --package game"),
        ("--cfg=job seed=1", "seed=1 --cfg=job"),
        ("seed=0,1 -m --level 3 gamma=0.5", "seed=0,1 level=3 gamma=0.5 -m"),
        ("--info --level 3", "level=3 --info"),
        ("run_dir=outputs/my-run_1.2", "run_dir=outputs/my-run_1.2"),
        ("run_dir=a,b -m", "run_dir=a,b -m"),
        ("run_dir=a,b=c", "run_dir='a,b=c'"),
        ("run_dir=outputs/recipe=article,seed=0", "run_dir='outputs/recipe=article,seed=0'"),
        ("run_dir=choice(a,b)", "run_dir=choice(a,b)"),
        ("run_dir=${project_folder:}/x", "run_dir=${project_folder:}/x"),
        ("run_dir='a=b'", "run_dir='a=b'"),
        ("run_dir=outputs/seed=0", "run_dir='outputs/seed=0'"),
        ("--run_dir outputs/seed=0", "run_dir='outputs/seed=0'"),
        ("run_dir=~/été", "run_dir='~/été'"),
    ],
)
def test_flags_become_overrides_and_stand_before_hydras_own(arguments, overrides):
    assert overrides_first(arguments.split()) == overrides.split()


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_is_a_setting_or_a_group(flag):
    kinds = (Settings, TabularSettings, MatchSettings, TournamentSettings, PlaySettings, WebSettings)
    assert flag == "recipe" or any(flag in kind.__dataclass_fields__ for kind in kinds)


def test_a_players_options_are_quoted_and_a_folder_only_once():
    assert overrides_first(["second=level:3?depth=2"]) == ["second='level:3?depth=2'"]
    assert overrides_first(["run_dir=runs/a?x=1"]) == ["run_dir='runs/a?x=1'"]


def test_hydras_flags_are_those_that_its_parser_has():
    actions = [action for action in get_args_parser()._actions if action.option_strings]
    valued = {name for action in actions for name in action.option_strings if action.nargs is None}
    assert valued == set(HYDRA_FLAGS_WITH_VALUE)
    assert {name for action in actions for name in action.option_strings} - valued == {*HELP_FLAGS, *HYDRA_FLAGS}


@pytest.mark.parametrize("folder", ["seed=0", "my folder", "été", "a&b;c", "a(b)", "a[1]", "x~"])
def test_a_run_dir_of_almost_any_name_is_taken(folder):
    assert compose_settings(overrides_first([f"run_dir=/tmp/{folder}"])).run_dir == f"/tmp/{folder}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--level", "--level needs a value"),
        ("--level seed=1", "--level needs a value"),
        ("--level --seed 1", "--level needs a value"),
        ("--level -m", "--level needs a value"),
        ("seed=1 --cfg", "--cfg needs a value"),
        ("--foo", "unknown flag --foo; there are --game, "),
        ("--foo=1", "unknown flag --foo=1"),
        ("-z", "unknown flag -z"),
        ("--gamma 0.5", "unknown flag --gamma"),
        ("--level 3 4", "'4' is neither a flag nor a setting; give name=value"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(arguments, message):
    with pytest.raises(SettingError) as caught:
        overrides_first(arguments.split())
    assert str(caught.value).startswith(message)


# ---------------------------------------------------------------------- one line for what is wrong


@pytest.fixture
def run_copy(tiny_run, tmp_path):
    run_dir = tmp_path / "run"
    shutil.copytree(tiny_run, run_dir)
    return run_dir


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["game=chess"], ["game/chess", "sumto100 tictactoe"]),
        (["recipe=best"], ["recipe/best", "article connect_four"]),
        (["game=1"], ["game=1"]),
        (["foo=1"], ["'foo'"]),
        (["matches=abc"], ["matches", "'abc'"]),
        (["gamma=2"], ["gamma=2.0: must be between 0 and 1"]),
        (["a=b=c"], ["a=b=c"]),
        (["--level"], ["--level needs a value"]),
        (["--foo"], ["unknown flag --foo"]),
        (["--level", 0], ["level 0 is the random player"]),
        (["seed=0,1"], ["seed=0,1"]),
    ],
    ids=str,
)
def test_wrong_arguments_get_one_line_and_code_2(tmp_path, arguments, named):
    assert_refused(run_forked(TRAIN, f"run_dir={tmp_path / 'run'}", *arguments), 2, *named)


@pytest.mark.parametrize("argument", ["game=chess", "matches=abc", "gamma=2", "--foo"])
def test_a_process_of_its_own_says_the_same(tmp_path, argument):
    arguments = [f"run_dir={tmp_path / 'run'}", argument]
    own, forked = run_script(TRAIN, *arguments), run_forked(TRAIN, *arguments)
    assert (own.returncode, own.stdout, own.stderr) == (forked.returncode, forked.stdout, forked.stderr)


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("architecture.name=[mlp]", "unknown architecture ['mlp']; there are conv, mlp"),
        ("architecture.name=best", "unknown architecture 'best'; there are conv, mlp"),
        ("architecture.dropout=half", "'half'"),
        ("architecture.hidden_sizes=[0]", "architecture.hidden_sizes=[0]: must be integers of at least 1"),
    ],
)
def test_a_network_that_cannot_be_built_gets_one_line_and_code_2(run_copy, argument, named):
    shutil.rmtree(run_copy / "level_01")
    assert_refused(run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 1, argument), 2, named)
    assert not (run_copy / "level_01").exists()


def test_a_network_for_boards_is_refused_for_a_game_without_one(tmp_path):
    arguments = ["game=sumto100", "architecture=conv", "matches=50", f"run_dir={tmp_path}"]
    assert run_forked(GENERATE, "--level", 0, *arguments).returncode == 0
    assert_refused(run_forked(TRAIN, "--level", 1, *arguments), 2, "architecture=conv needs a board")


@pytest.mark.parametrize(
    ("script", "arguments", "named"),
    [
        (GENERATE, ["--level", 7], "has no level 7; it has levels 1 to 3"),
        (TRAIN, ["--level", 9], "has no level 8; it has levels 1 to 3"),
        (TRAIN, ["--level", 4], "level_03/dataset.csv does not exist"),
        (CONSOLE, ["--level", 7], "has no level 7; it has levels 1 to 3"),
    ],
)
def test_a_level_that_is_not_there_is_named_with_those_that_are(run_copy, script, arguments, named):
    settings = [] if script == CONSOLE else TINY
    assert_refused(run_forked(script, *settings, f"run_dir={run_copy}", *arguments), 1, run_copy, named)


@pytest.mark.parametrize("script", [COMPARE, PLOT])
def test_a_run_that_is_not_there_is_named_and_not_made(tmp_path, script):
    assert_refused(run_forked(script, f"run_dir={tmp_path / 'none'}"), 1, tmp_path / "none", "does not exist")
    assert not (tmp_path / "none").exists()


def _without_last_column(content):
    return b"".join(line.rpartition(b",")[0] + b"\n" for line in content.splitlines())


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (_without_last_column, "column target is missing"),
        (lambda content: content[:-5], "is cut off in its last row"),
        (lambda content: b"", "holds no rows"),
    ],
    ids=["a column missing", "cut off", "empty"],
)
def test_a_broken_dataset_gets_one_line(run_copy, broken, named):
    shutil.rmtree(run_copy / "level_01")
    path = run_copy / "level_00" / "dataset.csv"
    path.write_bytes(broken(path.read_bytes()))
    before = files_of(run_copy)
    assert_refused(run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 1), 1, path, named)
    assert files_of(run_copy) == before


@pytest.mark.parametrize(
    ("script", "arguments"), [(GENERATE, ["level=3"]), (COMPARE, []), (CONSOLE, [])], ids=["play", "compare", "console"]
)
def test_a_checkpoint_of_another_game_gets_one_line(run_copy, script, arguments):
    settings = [] if script == CONSOLE else TINY
    result = run_forked(script, *settings, f"run_dir={run_copy}", "game=sumto100", *arguments)
    assert_refused(result, 1, "agent.safetensors", "is for tictactoe, not for sumto100")


def test_a_cut_off_checkpoint_gets_one_line(run_copy):
    path = run_copy / "level_03" / "agent.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    assert_refused(run_forked(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 3), 1, path)


def test_a_checkpoint_of_another_architecture_gets_one_line(run_copy):
    shutil.rmtree(run_copy / "level_03")
    result = run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 3, "architecture=conv")
    assert_refused(result, 1, run_copy / "level_02" / "agent.safetensors", "has the architecture", "'conv'")


def test_a_stage_made_with_other_settings_gets_one_line(run_copy):
    before = files_of(run_copy)
    result = run_forked(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 1, "gamma=0.5")
    assert_refused(result, 1, run_copy / "level_01", "gamma was 0.95, is 0.5")
    assert files_of(run_copy) == before


def test_a_second_run_on_the_same_run_dir_gets_one_line(run_copy):
    with RunFolder(run_copy).lock():
        assert_refused(run_script(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 0), 1, "another process", run_copy)
    result = run_script(GENERATE, *TINY, f"run_dir={run_copy}", "--level", 0)
    assert (result.returncode, result.stdout, result.stderr) == (0, "level 0: matches already generated, skipped\n", "")


# ---------------------------------------------------------------------- disks and folders


@pytest.mark.parametrize("below", ["a file", "/proc", "/sys"])
def test_a_folder_that_cannot_be_made_gets_one_line(tmp_path, below):
    (tmp_path / "file").touch()
    run_dir = (tmp_path / "file" if below == "a file" else Path(below)) / "run"
    if below != "a file" and not Path(below).is_dir():
        pytest.skip(f"no {below} here")
    assert_refused(run_forked(GENERATE, "--level", 0, f"run_dir={run_dir}"), 1, f"cannot write in {run_dir}")
    assert not run_dir.exists()


def test_a_folder_of_a_level_that_cannot_be_written_to_gets_one_line(run_copy):
    shutil.rmtree(run_copy / "level_03")
    (run_copy / "level_03").touch()
    result = run_forked(TRAIN, *TINY, f"run_dir={run_copy}", "--level", 3)
    assert_refused(result, 1, "cannot write", run_copy / "level_03")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 300 kB, and how to give it more."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(*options):
        command = ["mount", "-t", "tmpfs", "-o", *options, "tmpfs", str(disk)]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted = mount("size=300k")
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    yield disk, lambda: mount("remount,size=20m")
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_no_half_dataset_and_the_same_command_goes_on(small_disk, tmp_path):
    disk, enlarge = small_disk
    arguments = ["--level", 0, "matches=2000", f"run_dir={disk / 'run'}"]
    path = disk / "run" / "level_00" / "dataset.csv"
    assert_refused(run_forked(GENERATE, *arguments), 1, f"cannot write {path}", "No space left on device")
    assert files_of(disk) == {}
    assert enlarge().returncode == 0
    assert run_forked(GENERATE, *arguments).returncode == 0
    assert run_forked(GENERATE, *arguments[:-1], f"run_dir={tmp_path / 'roomy'}").returncode == 0
    assert files_of(disk / "run") == files_of(tmp_path / "roomy")


def test_a_full_disk_leaves_the_shards_that_are_whole_and_the_same_command_goes_on(small_disk, tmp_path):
    disk, enlarge = small_disk
    arguments = ["--level", 0, "matches=40000", "dataset.format=parquet", "dataset.shard_matches=2000"]
    here = f"run_dir={disk / 'run'}"
    beside = disk / "run" / "level_00" / ".dataset.parquet.partial"
    refused = run_forked(GENERATE, *arguments, "executor=process", here)
    assert_refused(refused, 1, f"cannot write {beside}/part-", "No space left on device")
    whole = {path.name: path.stat().st_mtime_ns for path in beside.glob("part-*")}
    assert 1 < len(whole) < 20
    assert enlarge().returncode == 0
    assert run_forked(GENERATE, *arguments, here).returncode == 0
    dataset = disk / "run" / "level_00" / "dataset.parquet"
    assert whole.items() <= {path.name: path.stat().st_mtime_ns for path in dataset.iterdir()}.items()
    assert run_forked(GENERATE, *arguments, f"run_dir={tmp_path / 'roomy'}").returncode == 0
    assert files_of(disk / "run") == files_of(tmp_path / "roomy")


def test_a_full_disk_leaves_no_half_network_and_the_same_command_goes_on(small_disk, tiny_run):
    disk, enlarge = small_disk
    run_dir = disk / "run"
    shutil.copytree(tiny_run / "level_00", run_dir / "level_00")
    room = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize - 16384))
    arguments = [*TINY, "--level", 1, f"run_dir={run_dir}"]
    path = run_dir / "level_01" / "agent.safetensors"
    assert_refused(run_forked(TRAIN, *arguments), 1, f"cannot write {path}", "No space left on device")
    assert not any((run_dir / "level_01").iterdir())
    assert enlarge().returncode == 0
    assert run_forked(TRAIN, *arguments).returncode == 0
    assert path.read_bytes() == (tiny_run / "level_01" / "agent.safetensors").read_bytes()


# ---------------------------------------------------------------------- Ctrl-C and closed pipes


DROPPED = """
import os, signal, time
import selfplay.process_exit

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

Dropping()
time.sleep(5)
print("went on")
"""


def test_ctrl_c_counts_also_where_python_drops_exceptions():
    with interruptible([sys.executable, "-c", DROPPED]) as process:
        output, error = process.communicate(timeout=120)
    assert (process.returncode, output, error) == (INTERRUPTED, "", f"error: {INTERRUPTED_MESSAGE}\n")


def test_ctrl_c_leaves_no_half_file_and_no_traceback(tmp_path):
    command = [sys.executable, GENERATE, "--level", "0", "matches=4000000", f"run_dir={tmp_path}"]
    result = interrupted_when_there_is(tmp_path / "level_00" / ".dataset.csv.partial", command)
    assert_refused(result, INTERRUPTED, "interrupted")
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize("module", ["selfplay.process_exit", "omegaconf", "hydra"])
def test_ctrl_c_while_modules_are_imported_gets_one_line(tmp_path, module):
    command = [sys.executable, "-X", "importtime", str(GENERATE), f"run_dir={tmp_path}"]
    with interruptible(command) as process:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                process.send_signal(signal.SIGINT)
                break
        rest = [line for line in process.stderr if not line.startswith("import time:")]
        output = process.stdout.read()
    result = subprocess.CompletedProcess(command, process.returncode, output, "".join(rest))
    assert_refused(result, INTERRUPTED, "interrupted")


def test_a_reader_that_stops_reading_gets_no_traceback(run_copy):
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [sys.executable, str(GENERATE), *TINY, f"run_dir={run_copy}", "--level", "0"],
        check=False,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert "Traceback" not in result.stderr


# ---------------------------------------------------------------------- what Hydra offers


def test_help_shows_the_settings_and_the_flags():
    result = run_forked(TRAIN, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Stage 2: train a level")
    assert "flags: --game --recipe --run_dir --seed --level" in result.stdout
    assert "recipe: article, connect_four, connect_four_large, default, othello, " in result.stdout
    described = "  training.optimizer.level_decay=1.0\n      Factor applied to the learning rate at each level.\n"
    assert described in result.stdout
    assert "Names of players" not in result.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_help_describes_every_setting_with_its_value(script):
    result = run_forked(script, "--help", "--seed", 5)
    assert (result.returncode, result.stderr) == (0, "")
    settings = result.stdout.partition("\nSettings (name=value)\n")[2].partition("\n\n")[0]
    assert "  seed=5\n" in settings
    lines = settings.splitlines()
    names = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert len(names) > 5
    for line in names:
        assert lines[lines.index(line) + 1].startswith("      "), f"{line} has no description"


def test_help_lists_the_names_of_players_where_a_setting_takes_them():
    assert "\nNames of players\n" in run_forked(CONSOLE, "--help").stdout


def test_help_refuses_a_wrong_setting():
    assert_refused(run_forked(TRAIN, "--help", "gamma=2"), 2, "gamma=2.0")


def test_cfg_job_shows_the_settings_and_runs_nothing(tmp_path):
    result = run_script(TRAIN, "--cfg", "job", "--seed", 5, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\nseed: 5\n" in f"\n{result.stdout}"
    assert not any(tmp_path.iterdir())


def test_a_sweep_makes_a_run_folder_for_each_value(tmp_path):
    sweep = tmp_path / "sweep"
    arguments = ["--level", 0, "matches=50"]
    result = run_forked(GENERATE, "-m", "seed=0,1", *arguments, f"run_dir={sweep}")
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(path.name for path in sweep.iterdir() if path.is_dir()) == ["seed=0", "seed=1"]
    for seed in (0, 1):
        assert run_forked(GENERATE, *arguments, "--seed", seed, f"run_dir={tmp_path / 'one'}{seed}").returncode == 0
        assert files_of(sweep / f"seed={seed}") == files_of(tmp_path / f"one{seed}")
    # A folder of the sweep can be named like any other.
    again = run_forked(GENERATE, *arguments, "--seed", 1, f"run_dir={sweep / 'seed=1'}")
    assert (again.returncode, again.stdout) == (0, "level 0: matches already generated, skipped\n")


def test_a_message_goes_to_the_screen_and_with_its_time_to_the_log(tmp_path):
    result = run_forked(GENERATE, "--level", 0, "matches=50", f"run_dir={tmp_path}")
    line = (tmp_path / "run.log").read_text()
    assert line.endswith(result.stdout)
    assert pd.to_datetime(line.partition(",")[0]).year >= 2025
