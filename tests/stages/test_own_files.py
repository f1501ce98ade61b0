"""A single stage with its own dataset, weights, agent, opponent and output folder."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from selfplay import Settings, generate_level, learn_levels, load_level, make_game, train_level
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.errors import SelfPlayError, SettingError, StageError
from selfplay.files import sha256
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from tests.support.dataset_tools import read_dataset, write_dataset
from tests.support.runs import GENERATE, TINY, TRAIN, files_of, run_forked, tiny_settings

Stage = Callable[[Settings, int], bool]


def test_the_stages_write_into_a_folder_of_their_own_and_leave_the_run_as_it_is(run_copy: Path, tmp_path: Path) -> None:
    before = files_of(run_copy)
    own = tiny_settings(run_copy, f"output_dir={tmp_path / 'own'}")
    assert generate_level(own, 2)
    assert train_level(own, 3)
    assert files_of(run_copy) == before
    for level, name in ((2, "dataset.csv"), (3, "agent.safetensors"), (3, "epoch_loss.csv")):
        assert (tmp_path / "own" / name).read_bytes() == before[f"level_{level:02d}/{name}"]
    assert not generate_level(own, 2)
    assert not train_level(own, 3)


def test_a_loop_of_single_stages_ends_in_the_same_bytes_as_a_run(tiny_run: Path, tmp_path: Path) -> None:
    """The stages are connected by files only, as with separate programs."""
    run, base = RunFolder(tiny_run), [*TINY, f"run_dir={tmp_path / 'empty'}"]

    def run_stage(script: Path, *arguments: object) -> None:
        result = run_forked(script, *base, *arguments)
        assert result.returncode == 0, result.stderr

    at = {name: tmp_path / name for name in ("d0", "a1", "d1", "a2")}
    run_stage(GENERATE, "--level", 0, "--output-dir", at["d0"])
    run_stage(TRAIN, "--dataset-file", at["d0"] / "dataset.csv", "--output-dir", at["a1"])
    agent = at["a1"] / "agent.safetensors"
    run_stage(GENERATE, "--agent-file", agent, "--output-dir", at["d1"])
    run_stage(
        TRAIN, "--level=2", f"dataset_file={at['d1']}/dataset.csv", f"start_file={agent}", f"output_dir={at['a2']}"
    )
    assert (at["d1"] / "dataset.csv").read_bytes() == run.dataset(1).read_bytes()
    assert (at["a2"] / "agent.safetensors").read_bytes() == run.agent(2).read_bytes()


def test_a_level_plays_against_any_named_player(tiny_run: Path, tmp_path: Path) -> None:
    opponent = "level:1?epsilon=0.1"
    settings = tiny_settings(tiny_run, f"opponent='{opponent}'", f"output_dir={tmp_path}")
    generate_level(settings, 2)
    game = make_game("tictactoe")
    rows = read_dataset(tmp_path / "dataset.csv", game.observation_codec)
    usual = read_dataset(RunFolder(tiny_run).dataset(2), game.observation_codec)
    assert set(rows.match) == set(range(300))
    assert not (len(rows.match) == len(usual.match) and np.array_equal(rows.position, usual.position))
    with pytest.raises(StageError, match=f"opponent was .*{opponent[:5]}.*, is null"):
        generate_level(replace(settings, opponent=None), 2)


@pytest.mark.parametrize("name", ["mine", "mine.parquet"])
def test_a_dataset_file_is_read_by_what_it_is_whatever_the_format_of_the_run(
    tiny_run: Path, tmp_path: Path, name: str
) -> None:
    run, codec = RunFolder(tiny_run), make_game("tictactoe").observation_codec
    folder = tmp_path / "mine.parquet"
    write_dataset(folder, [read_dataset(run.dataset(0), codec)], codec)
    if name == "mine":
        folder = folder.rename(tmp_path / name)
    train_level(tiny_settings(tiny_run, f"dataset_file={folder}", f"output_dir={tmp_path / 'folder'}"), 1)
    single = folder / "part-00000.parquet"
    train_level(tiny_settings(tiny_run, f"dataset_file={single}", f"output_dir={tmp_path / 'single'}"), 1)
    for output in ("folder", "single"):
        weights = (tmp_path / output / "agent.safetensors").read_bytes()
        assert weights == run.agent(1).read_bytes()


def test_advice_about_a_file_of_the_user_is_not_to_make_it_again(run_copy: Path, tmp_path: Path) -> None:
    good = RunFolder(run_copy).dataset(0)
    lines = good.read_text().splitlines()
    weights = load_file(RunFolder(run_copy).agent(1))
    (tmp_path / "folder").mkdir()
    (tmp_path / "index.csv").write_text("".join(f"{number},{line}\n" for number, line in enumerate(lines)))
    (tmp_path / "empty.csv").write_text(f"{lines[0]}\n")
    save_file(weights, tmp_path / "other.safetensors")
    (tmp_path / "site").mkdir()
    shutil.copy(good, tmp_path / "site" / "dataset.csv")
    (tmp_path / "site" / "manifest.json").write_text('{"name": "a page"}')
    edited = shutil.copytree(good.parent, tmp_path / "edited") / good.name
    edited.write_text("\n".join([*lines[:-1], ""]))
    cases = {
        "dataset_file=folder": "folder: is neither a Parquet file nor a folder with part-00000.parquet in it",
        "dataset_file=index.csv": "index.csv: column 1 is '0', not 'match'; its first line must be match,ply,v0,...",
        "dataset_file=empty.csv": "empty.csv: holds no rows",
        "dataset_file=site/dataset.csv": "delete it if this program wrote it, or use another folder",
        "dataset_file=edited/dataset.csv": "differs from its manifest; to train on it, copy it elsewhere",
        "start_file=other.safetensors": "other.safetensors: is not a checkpoint of this program",
    }
    for setting, message in cases.items():
        name, _, file = setting.partition("=")
        settings = tiny_settings(run_copy, f"{name}={tmp_path / file}", f"output_dir={tmp_path / 'out'}")
        with pytest.raises(SelfPlayError) as error:
            train_level(settings, 1)
        assert message in str(error.value)
        assert "again" not in str(error.value)


def test_a_run_begins_with_an_agent_of_another_size(tmp_path: Path) -> None:
    options = {"name": "alphazero_convolutional", "channels": 3, "blocks": 1}
    small, first = make_game("gomoku", size=3), tmp_path / "first.safetensors"
    network = build_network(options, small.observation_shape, small.num_distinct_actions)
    save_checkpoint(first, network, small, 1, options, {})
    run = RunFolder(tmp_path / "run")
    board = ["game=gomoku", "game.size=4", "architecture=alphazero_convolutional", "architecture.channels=3"]
    given = [*board, "architecture.blocks=1", f"first_agent={first}", "learner.epochs=1", "matches=30", "levels=1"]
    settings = tiny_settings(run.path, *given)
    assert generate_level(settings, 0)
    assert train_level(settings, 1)
    digest = sha256(first)
    assert Manifest(run.level(0)).sections["generation"]["settings"]["agent_sha256"] == digest
    assert Manifest(run.level(1)).sections["training"]["settings"]["start_sha256"] == digest
    assert load_level(run.path, 1).game.name == "gomoku_4x4"


def test_settings_of_a_single_stage_are_refused_for_a_whole_run(tmp_path: Path) -> None:
    for setting in ("agent_file", "opponent", "dataset_file", "start_file", "output_dir"):
        with pytest.raises(SettingError, match=f"{setting}=random: only for selfplay (generate|train)"):
            learn_levels(replace(tiny_settings(tmp_path), **{setting: "random"}))


@pytest.mark.parametrize(
    ("stage", "overrides", "error", "message"),
    [
        (generate_level, ["agent_file=nothing", "level=0"], SettingError, "agent_file=nothing: set level to 1 or more"),
        (train_level, ["dataset_file=nothing.csv"], StageError, "dataset_file=nothing.csv: does not exist; set a CSV"),
        (train_level, ["start_file=nothing"], FileNotFoundError, "No such file"),
    ],
)
def test_a_missing_file_or_player_is_refused_by_name(
    tiny_run: Path, tmp_path: Path, stage: Stage, overrides: list[str], error: type[Exception], message: str
) -> None:
    settings = tiny_settings(tiny_run, f"output_dir={tmp_path}", *overrides)
    with pytest.raises(error, match=message) as caught:
        stage(settings, 1 if settings.level is None else settings.level)
    assert "\n" not in str(caught.value)
    assert not any(tmp_path.iterdir())
