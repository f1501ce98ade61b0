"""A sweep (-m): a folder for each run, failed runs, and the table and figure at the end."""

import shutil
import sys

import pandas as pd
import pytest

from selfplay.cli.command import Program, overrides_first, settings_of
from selfplay.cli.entry import INTERRUPTED, write_error_line
from selfplay.cli.programs.learning import learn_program
from selfplay.cli.sweep import run_sweep, runs_of_sweep
from selfplay.errors import SettingError, StageError
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, GENERATE, LEARN, files_of, interrupted_when_there_is, run_forked, run_script

SMALL = ["levels=1", "matches=200", "comparison.matches=50", "learner.epochs=1", "learner.steps_per_epoch=5"]


@pytest.fixture(autouse=True)
def _process(monkeypatch):
    """Hydra reads the command line and the environment of the process."""
    monkeypatch.setattr(sys, "argv", ["selfplay"])
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(
            "recipe=glob(alphazero_o*)",
            ["recipe=alphazero_othello", "recipe=alphazero_othello_large"],
            marks=pytest.mark.slow,
        ),
        (
            "seed=1,0 recipe=default,article",
            ["recipe=default,seed=1", "recipe=article,seed=1", "recipe=default,seed=0", "recipe=article,seed=0"],
        ),
        ("seed=0,1 seed=5 learner.gamma=0.5,1", ["learner.gamma=0.5", "learner.gamma=1"]),
        pytest.param("player='a/b?c=1','d'", ["player=a.b?c=1", "player=d"], marks=pytest.mark.slow),
    ],
)
def test_a_run_is_named_after_the_swept_settings(arguments, names):
    assert [name for name, _ in runs_of_sweep(learn_program, arguments.split())] == names


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        ("start_file=2026_11,1.50, a b ,bob's,'a,b'", ["2026_11", "1.50", "a b", "bob's", "a,b"]),
        pytest.param("modules=[2026_11,b],[c]", ["[2026_11,b]", "[c]"], marks=pytest.mark.slow),
        pytest.param("start_file=choice(2026_11,b)", ["2026_11", "b"], marks=pytest.mark.slow),
        pytest.param("levels=range(1,3)", ["1", "2"], marks=pytest.mark.slow),
        pytest.param("game.komi=5.5,7", ["5.5", "7"], marks=pytest.mark.slow),
    ],
)
def test_texts_to_sweep_over_are_taken_as_they_were_typed(argument, names):
    overrides, _ = overrides_first([argument, "-m"])
    assert [name for name, _ in runs_of_sweep(learn_program, overrides)] == [
        f"{argument.partition('=')[0]}={name}" for name in names
    ]


OWN_LEARNER = """
from dataclasses import dataclass
from selfplay.learners.values import Values

@dataclass(frozen=True)
class Warm(Values):
    warmth: float = 1.0
"""


def test_parameters_of_an_own_learner_can_be_swept(tmp_path, monkeypatch):
    (tmp_path / "warm_learner.py").write_text(OWN_LEARNER)
    monkeypatch.syspath_prepend(tmp_path)
    given, _ = overrides_first(["-m", "learner=warm_learner:Warm", "learner.warmth=0.5,2", "learner.epochs=3"])
    runs = [settings_of(learn_program, given, name)[0].learner for name, given in runs_of_sweep(learn_program, given)]
    assert [(one.warmth, one.epochs) for one in runs] == [(0.5, 3), (2.0, 3)]
    (name, unknown), *_ = runs_of_sweep(learn_program, ["learner.warmth=0.5,2"])
    assert name == "learner.warmth=0.5"
    with pytest.raises(SettingError, match=r"unknown setting 'learner\.warmth'"):
        settings_of(learn_program, unknown, name)


@pytest.mark.parametrize("values", ["1,choice(1,2)", "interval(1,2)"])
def test_a_function_among_the_values_of_a_sweep_is_refused(values):
    with pytest.raises(SettingError) as caught:
        runs_of_sweep(learn_program, [f"seed={values}"])
    assert str(caught.value) == f"seed={values}: list the values, as in seed=one,two"


def test_a_sweep_without_values_is_refused():
    with pytest.raises(SettingError, match="the sweep has no values; list them"):
        runs_of_sweep(learn_program, ["seed=glob(*)"])


@pytest.mark.slow
def test_a_run_of_each_run_dir_and_folder_of_settings_is_found(tmp_path):
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "own.yaml").write_text("# @package _global_\nrecipe: own\nlevels: 7\n")
    given, _ = overrides_first(["-m", "--config-dir", str(tmp_path), "recipe=own,default", "run_dir=a,b"])
    runs = runs_of_sweep(learn_program, given)
    assert [name for name, _ in runs] == ["recipe=own"] * 2 + ["recipe=default"] * 2
    settings = [settings_of(learn_program, given, name)[0] for name, given in runs]
    assert [(run.run_dir, run.levels) for run in settings[:2]] == [("a/recipe=own", 7), ("b/recipe=own", 7)]
    assert settings[3].run_dir == "b/recipe=default"


def test_a_bug_in_one_run_is_shown_and_the_others_continue(tmp_path, capsys):
    seeds = []

    def body(settings):
        seeds.append(settings.seed)
        if settings.seed == 0:
            raise TypeError("a bug")
        if settings.seed == 1:
            raise MemoryError

    with pytest.raises(StageError, match="2 of 3 runs failed: seed=0; seed=1; run the same command again"):
        run_sweep(Program(body, Settings), ["seed=0,1,2", f"run_dir={tmp_path}"], write_error_line)
    assert seeds == [0, 1, 2]
    errors = capsys.readouterr().err
    assert "\nTypeError: a bug\nerror: seed=1: memory ran out; " in errors


def test_runs_that_fail_because_of_their_settings_are_not_to_be_resumed(tmp_path, capsys):
    def body(settings):
        raise SettingError(f"seed={settings.seed}: refused")

    with pytest.raises(SettingError, match=r"^2 of 2 runs failed: seed=0; seed=1$"):
        run_sweep(Program(body, Settings), ["seed=0,1", f"run_dir={tmp_path}"], write_error_line)
    assert capsys.readouterr().err == "error: seed=0: seed=0: refused\nerror: seed=1: seed=1: refused\n"


LAUNCHER = """
import os
import sys

from hydra.core.config_store import ConfigStore
from hydra.core.utils import run_job
from hydra.plugins.launcher import Launcher
from omegaconf import open_dict

ConfigStore.instance().store(group="hydra/launcher", name="forks", node={"_target_": f"{__name__}.Forks"})


class Forks(Launcher):
    def setup(self, *, hydra_context, task_function, config):
        self.given = {"hydra_context": hydra_context, "task_function": task_function}
        self.config = config

    def launch(self, job_overrides, initial_job_idx):
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            if os.fork() == 0:
                job = self.given["hydra_context"].config_loader.load_sweep_config(self.config, list(overrides))
                with open_dict(job):
                    job.hydra.job.num = number
                run_job(config=job, job_dir_key="hydra.sweep.dir", job_subdir_key="hydra.sweep.subdir", **self.given)
                sys.stdout.flush()
                os._exit(0)
        for _ in job_overrides:
            os.wait()
        return []
"""


@pytest.mark.slow
def test_a_launcher_of_a_plugin_starts_the_runs_in_other_processes(tmp_path, monkeypatch):
    (tmp_path / "hydra_plugins").mkdir()
    (tmp_path / "hydra_plugins" / "forks.py").write_text(LAUNCHER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder, wanted = tmp_path / "runs", ["--level", 0, "matches=50"]
    assert run_forked(GENERATE, *wanted, "seed=1", f"run_dir={folder / 'seed=1'}").returncode == 0
    sweep = ["-m", "seed=0,1,2", "learner.gamma=0.5", f"run_dir={folder}", "hydra/launcher=forks"]
    result = run_script(GENERATE, *wanted, *sweep)
    assert result.returncode == 1
    first, last = result.stderr.splitlines()
    assert first.startswith("error: seed=1: ")
    assert last.startswith("error: 1 of 3 runs failed: seed=1; ")
    assert sorted(line for line in result.stdout.splitlines() if line.startswith("run ")) == [
        f"run {seed + 1} of 3: seed={seed}" for seed in range(3)
    ]
    assert run_forked(GENERATE, *wanted, "seed=2", "learner.gamma=0.5", f"run_dir={tmp_path / 'one'}").returncode == 0
    assert files_of(folder / "seed=2") == files_of(tmp_path / "one")


SWEEPER = """
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper

ConfigStore.instance().store(group="hydra/sweeper", name="halving", node={"_target_": f"{__name__}.Halving"})


class Halving(Sweeper):
    def setup(self, *, hydra_context, task_function, config):
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments):
        fixed = [one for one in arguments if "interval" not in one]
        gamma = 1.0
        for number in range(2):
            (job,) = self.launcher.launch([[*fixed, f"++learner.gamma={gamma}"]], number)
            gamma = 0.5 if 0 < job.return_value < 1 else 0.0
"""


@pytest.mark.slow
def test_a_sweeper_of_a_plugin_chooses_the_next_run_by_the_result_of_the_last(tmp_path, monkeypatch):
    (tmp_path / "hydra_plugins").mkdir()
    (tmp_path / "hydra_plugins" / "halving.py").write_text(SWEEPER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = tmp_path / "it's"
    chosen = ["learner.gamma=interval(0,1)", "hydra/sweeper=halving", f"run_dir={folder}"]
    result = run_script(LEARN, "-m", *SMALL, *chosen, "objective=exact_loss_vs_random")
    assert (result.returncode, result.stderr) == (0, "")
    table = pd.read_csv(folder / "sweep" / "runs.csv")
    assert table["run"].tolist() == ["learner.gamma=0.5", "learner.gamma=1.0"]
    refused = run_script(LEARN, "-m", *SMALL, *chosen, "objective=beauty")
    assert refused.returncode == 1
    first, *_, last = refused.stderr.splitlines()
    assert first.startswith("error: learner.gamma=1.0: objective=beauty: must be one of exact_win_vs_random, ")
    assert last == "error: 2 of 2 runs failed"
    refused = run_forked(GENERATE, "-m", *chosen)
    assert_refused(refused, 2, "hydra/sweeper: only ", "learn has results")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A sweep whose last run fails because of files of other settings: its folder and its output."""
    folder = tmp_path_factory.mktemp("sweep") / "runs"
    taken = folder / "seed=1"
    assert run_forked(GENERATE, "--level", 0, *SMALL, "learner.gamma=0.1", "seed=1", f"run_dir={taken}").returncode == 0
    result = run_forked(LEARN, "-m", "seed=0,1", "learner.gamma=0.9", *SMALL, f"run_dir={folder}")
    return folder, result


@pytest.mark.slow
def test_a_failed_run_is_reported_in_one_line_and_the_others_continue(sweep):
    folder, result = sweep
    lines = result.stderr.splitlines()
    assert result.returncode == 1
    assert lines[0].startswith("error: seed=1: ")
    assert "gamma was 0.1, is 0.9" in lines[0]
    assert lines[1].startswith("error: 1 of 2 runs failed: seed=1; ")
    assert len(lines) == 2
    assert RunFolder(folder / "seed=0").comparison.exists()


@pytest.mark.slow
def test_the_sweep_ends_with_a_table_that_names_missing_runs(sweep):
    folder, result = sweep
    assert "\n  seed=1: no level is trained yet\n" in result.stdout
    assert "not in the table: 1 of 2 runs" in result.stdout
    assert pd.read_csv(folder / "sweep" / "runs.csv")["run"].tolist() == ["seed=0"]
    assert (folder / "sweep" / "runs.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_repeated_sweep_skips_complete_runs_and_finishes_the_others(sweep, tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(sweep[0], folder)
    shutil.rmtree(folder / "seed=1")
    finished = folder / "seed=0"
    before = files_of(finished)
    result = run_forked(LEARN, "-m", "learner.gamma=0.9", "seed=0,1", *SMALL, f"run_dir={folder}")
    assert (result.returncode, result.stderr) == (0, "")
    first, second = result.stdout.split("run 2 of 2: seed=1\n")
    assert "\nPlay against it: " in first
    assert [line.partition(" (")[0] for line in first.splitlines()[:4]] == [
        "run 1 of 2: seed=0",
        "level 0: matches already generated, skipped",
        "level 1: already trained, skipped",
        "levels already compared, skipped",
    ]
    assert files_of(finished) == before
    assert "level 1: trained on " in second
    assert pd.read_csv(folder / "sweep" / "runs.csv")["seed"].tolist() == [0, 1]
    # The program writes the same files from the folder, and accepts a single run.
    made = files_of(folder / "sweep")
    again = run_forked(COMMAND, "compare-runs", f"run_dir={folder}")
    assert (again.returncode, again.stderr) == (0, "")
    assert files_of(folder / "sweep") == made
    table = again.stdout.partition("\n\n")[2]
    assert table in result.stdout
    assert run_forked(COMMAND, "compare-runs", f"run_dir={finished}").returncode == 0


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("learner.gamma=1,2", "learner.gamma=2.0: must be"),
        pytest.param(
            "learner=values,policy",
            "learner=policy: architecture=mlp has no policy head, ",
            marks=pytest.mark.slow,
        ),
        pytest.param("seed=0,1 opponent=random", "opponent=random: only for selfplay generate", marks=pytest.mark.slow),
    ],
)
def test_a_wrong_setting_of_any_run_is_refused_before_the_first_one_starts(tmp_path, setting, named):
    result = run_forked(LEARN, "-m", *setting.split(), *SMALL, f"run_dir={tmp_path / 'runs'}")
    assert_refused(result, 2, named)
    assert result.stdout == ""
    assert not (tmp_path / "runs").exists()


def test_a_folder_without_runs_gets_one_line(tmp_path):
    result = run_forked(COMMAND, "compare-runs", f"run_dir={tmp_path}")
    assert_refused(result, 1, f"{tmp_path} contains no runs")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_stops_all_runs_of_a_sweep(tmp_path):
    partial = tmp_path / "seed=0" / "level_00" / ".dataset.csv.partial"
    sweep = ["-m", "seed=0,1", "levels=1", "matches=1000000", f"run_dir={tmp_path}"]
    result = interrupted_when_there_is(partial, LEARN, *sweep)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (INTERRUPTED, "run 1 of 2: seed=0\n", 1)
    assert result.stderr.startswith("error: interrupted; run the same command again")
    assert not (tmp_path / "seed=1").exists()
