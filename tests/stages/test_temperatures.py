"""When the loop finds the temperatures of the strengths, and what it writes."""

from pathlib import Path

import pytest

from selfplay.agents.checkpoints import save_checkpoint
from selfplay.architectures import build_network
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.stages import temperatures
from selfplay.stages.learning_run import LearningRun
from selfplay.stages.temperatures import find_strengths
from tests.support.runs import files_of, tiny_settings

GAME = "tests.support.kalah:Kalah"


def run_of(run_dir: Path, levels: str) -> LearningRun:
    return LearningRun.of(tiny_settings(run_dir, f"game={GAME}", f"levels={levels}"))


def rate(folder: RunFolder, level: int, score: float) -> None:
    game, options = make_game(GAME), {"name": "alphazero_mlp", "hidden_sizes": [4]}
    network = build_network(options, game.observation_shape, game.num_distinct_actions)
    folder.level(level).mkdir(parents=True)
    save_checkpoint(folder.agent(level), network, game, level, options, {})
    folder.versus_rollouts(level).write_text(f"level,simulations,rollouts,score\n{level},150,1400,{score}\n")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs of players whose matches were wanted, which are not played."""
    pairs: list[tuple[str, str]] = []

    def score(run: LearningRun, level: int, better: str, worse: str) -> float:
        pairs.append((better, worse))
        return 0.75

    monkeypatch.setattr(temperatures, "_score", score)
    return pairs


def found_after(run: LearningRun, scores: list[float]) -> list[int]:
    """The levels of which temperatures are found while levels with these scores are learned."""
    for level, score in enumerate(scores, 1):
        rate(run.folder, level, score)
        find_strengths(run, level)
    return run.folder.levels_with("temperatures.csv")


@pytest.mark.usefixtures("asked")
def test_they_are_found_for_a_better_level_when_there_are_four_times_as_many_and_at_the_end(tmp_path: Path) -> None:
    assert found_after(run_of(tmp_path / "endless", "null"), [0.6] * 31 + [0.4, 0.6]) == [8, 33]
    assert found_after(run_of(tmp_path / "short", "3"), [0.4, 0.6, 0.6]) == [3]
    # For random matches once; the next stage reads what is recorded of it.
    weak = run_of(tmp_path / "weak", "null")
    assert found_after(weak, [0.4] * 10) == [8]
    assert set(Manifest(weak.folder.level(8)).sections) == {"temperatures"}
    assert found_after(run_of(tmp_path / "late", "null"), [0.4] * 8 + [0.6]) == [8, 9]


def test_what_is_found_is_not_found_again_and_is_the_same_after_a_kill(
    tmp_path: Path, asked: list[tuple[str, str]]
) -> None:
    run = run_of(tmp_path, "1")
    assert found_after(run, [0.6]) == [1]
    assert [worse.partition("?")[0] for _, worse in asked] == ["hard", "medium", "easy", "beginner"]
    assert asked[0][0] == "strongest"
    whole, count = files_of(tmp_path), len(asked)
    find_strengths(run, 1)
    assert len(asked) == count
    # As a kill leaves it between the file and its record.
    run.folder.level(1).joinpath("manifest.json").unlink()
    text = run.folder.temperatures(1).read_text()
    run.folder.temperatures(1).write_text(text.replace("0.7,", "0.1,"))
    find_strengths(run, 1)
    assert files_of(tmp_path) == whole


@pytest.mark.usefixtures("asked")
def test_games_with_an_agent_or_perfect_play_have_their_own(tmp_path: Path) -> None:
    for name in ("hex", "tictactoe"):
        run = LearningRun.of(tiny_settings(tmp_path / name, f"game={name}", "levels=1"))
        run.folder.level(1).mkdir(parents=True)
        run.folder.versus_rollouts(1).write_text("level,simulations,rollouts,score\n1,150,1400,0.6\n")
        find_strengths(run, 1)
        assert run.folder.levels_with("temperatures.csv") == []


def test_the_search_which_takes_minutes_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "selfplay")
    said = list[str]()

    def score(run: LearningRun, level: int, better: str, worse: str) -> float:
        said.extend(caplog.messages)
        return 0.75

    monkeypatch.setattr(temperatures, "_score", score)
    assert found_after(run_of(tmp_path / "short", "1"), [0.6]) == [1]
    assert said[0].startswith("level 1: finding the temperatures of the opponents below the strongest, by up to 16")
