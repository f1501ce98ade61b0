"""What the loop writes about a level that has met tree search with random matches."""

from dataclasses import replace
from pathlib import Path

import pytest

from selfplay import initial_network, make_game
from selfplay.agents.checkpoints import save_checkpoint
from selfplay.games.win_draw_loss import WinDrawLoss, wilson_interval
from selfplay.grading.versus_rollouts import UNMIXED, WORK_OF_PLY, VersusRollouts, about_plies
from selfplay.matches.series import PairResult
from selfplay.runs.levels import Rated, rated_levels
from selfplay.runs.manifest import Manifest
from selfplay.stages import versus_rollouts
from selfplay.stages.learning_run import LearningRun
from selfplay.stages.versus_rollouts import rate_level, rollouts_text
from tests.support.runs import tiny_settings

GAME = "tests.support.kalah:Kalah"
WIDTH = 10


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LearningRun:
    """A run whose level 1 loses, and whose level 2 wins."""
    settings = tiny_settings(tmp_path, f"game={GAME}", "learner=policy", "architecture=alphazero_mlp", "levels=2")
    run, game = LearningRun.of(settings), make_game(GAME)
    options = {"name": "alphazero_mlp", "hidden_sizes": [WIDTH]}
    network = initial_network(game, options)
    for level in (1, 2):
        run.folder.level(level).mkdir(parents=True)
        save_checkpoint(run.folder.agent(level), network, game, level, options, {})
    run.folder.level(0).mkdir()
    by_rollouts = {"learner.self_play": "mcts:rollouts?simulations=300", "learner.simulations": 32}
    Manifest(run.folder.level(0)).record("generation", by_rollouts, {"rows": 100}, [])
    Manifest(run.folder.level(1)).record(
        "generation", {"learner.self_play": None, "learner.simulations": 16}, {"rows": 200}, []
    )
    results = iter([WinDrawLoss(4, 0, 36), WinDrawLoss(20, 20, 0)])

    def play(agent: object, seed: int, mixing: object, progress: object, *, was_unmixed: bool) -> VersusRollouts:
        counts = next(results)
        return VersusRollouts(UNMIXED, 150, 1400, PairResult(counts, 40, 0, 0, counts, 4))

    monkeypatch.setattr(versus_rollouts, "play_rollouts", play)
    return run


def test_a_rating_knows_whether_the_level_before_was_better_without_random_matches(
    run: LearningRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Level 1 is rated without them, so level 2 goes on so until they clearly help."""
    known = list[bool]()

    def play(*_: object, was_unmixed: bool) -> VersusRollouts:
        known.append(was_unmixed)
        return VersusRollouts(UNMIXED, 150, 1400, PairResult(WinDrawLoss(4, 0, 36), 40, 0, 0, WinDrawLoss(4, 0, 36), 4))

    monkeypatch.setattr(versus_rollouts, "play_rollouts", play)
    mixing = LearningRun.of(replace(run.settings, learner=replace(run.settings.learner, rollout_share=0.5)))
    for level in (1, 2):
        rate_level(mixing, level)
    assert known == [False, True]


def test_the_work_of_the_matches_that_were_learned_from_is_counted(run: LearningRun) -> None:
    for level in (1, 2):
        rate_level(run, level)
    first, second = rated_levels(run.folder)
    entries, actions = make_game(GAME).observation_shape[0], make_game(GAME).num_distinct_actions
    network = entries * WIDTH + WIDTH * (1 + actions)
    assert first.work == int(100 * 300 * WORK_OF_PLY * about_plies(run.game))
    assert second.work == first.work + 200 * 16 * network
    interval = [round(end, 6) for end in wilson_interval(30, 40)]
    assert second == Rated(2, 150, 1400, 0.75, 0.0, 1, *interval, second.work)


def test_the_report_says_after_how_much_work_levels_are_better(run: LearningRun) -> None:
    rate_level(run, 1)
    assert "no level was better so far" in rollouts_text(run.folder, run.game)[0]
    rate_level(run, 2)
    text = rollouts_text(run.folder, run.game)[0]
    assert "level 2 was the first to be better, after matches with " in text
    assert text.endswith("The player strongest of this run is level 2 in tree search.")
    # Where an agent comes with the program, people play that.
    assert "strongest" not in rollouts_text(run.folder, make_game("go"))[0]


@pytest.mark.parametrize(("solved_at_once", "is_rated"), [(5478, False), (5477, True)])
def test_levels_are_rated_in_all_games_whose_perfect_play_people_would_wait_for(
    run: LearningRun, monkeypatch: pytest.MonkeyPatch, solved_at_once: int, is_rated: bool
) -> None:
    """Tic-tac-toe has 5,478 positions."""
    monkeypatch.setattr(versus_rollouts, "SOLVED_AT_ONCE", solved_at_once)
    game = make_game("tictactoe")
    options = {"name": "alphazero_mlp", "hidden_sizes": [WIDTH]}
    save_checkpoint(run.folder.agent(1), initial_network(game, options), game, 1, options, {})
    settings = replace(run.settings, game=replace(run.settings.game, name="tictactoe"))
    rate_level(LearningRun.of(settings), 1)
    assert bool(rated_levels(run.folder)) == is_rated
