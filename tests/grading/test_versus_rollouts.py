"""Matches of a learned agent against tree search with random matches, at equal work."""

from types import SimpleNamespace

import pytest
from torch import nn

from selfplay import Policy, initial_network, make_game
from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading import versus_rollouts
from selfplay.grading.versus_rollouts import (
    FEWEST,
    MATCHES,
    UNMIXED,
    WORK_OF_MOVE,
    WORK_OF_PLY,
    WORK_OF_REPLY,
    Mixing,
    allowed_in_reply,
    play_rollouts,
    plies_of_random_matches,
    rollouts_in_reply,
    work_of_network,
)
from selfplay.matches.series import PairResult, Series
from selfplay.runs.levels import Rated, best_level, rated_levels
from selfplay.runs.run_folder import RunFolder
from selfplay.search.mcts.mixed_evaluator import MixedEvaluator
from selfplay.stages.generate import playing_learner

GAME = make_game("tictactoe")


def agent_of(network: nn.Module) -> Agent:
    return Agent(Checkpoint(network.eval(), {"outcome": "return"}), GAME, "level 1")


def test_work_counts_multiplications():
    perceptron = initial_network(GAME, {"name": "alphazero_mlp", "hidden_sizes": [10]})
    assert work_of_network(agent_of(perceptron)) == 18 * 10 + 10 * (1 + 9)
    sizes = {"channels": 4, "blocks": 1, "value_channels": 2, "policy_channels": 3, "hidden_sizes": [5]}
    planes = 9 * (2 * 4 * 9 + 2 * 4 * 4 * 9 + 4 * 2 + 4 * 3)
    heads = 2 * 9 * 5 + 5 + 3 * 9 * 9
    assert work_of_network(agent_of(initial_network(GAME, {"name": "alphazero_residual", **sizes}))) == planes + heads


def test_both_players_have_the_same_work_and_the_result_is_the_same_again():
    agent = agent_of(initial_network(GAME, {"name": "alphazero_mlp", "hidden_sizes": [128, 128]}))
    played = play_rollouts(agent, seed=0)
    assert played.result.results.matches == MATCHES
    assert played.simulations * work_of_network(agent) == pytest.approx(WORK_OF_MOVE, rel=0.01)
    work_of_match = plies_of_random_matches(GAME) * WORK_OF_PLY
    assert played.rollouts * work_of_match == pytest.approx(WORK_OF_MOVE, rel=0.01)
    assert play_rollouts(agent, seed=0) == played


def test_a_reply_is_as_much_work_in_games_with_short_and_long_matches():
    short, long = make_game("tictactoe_4x4"), make_game("dots_and_boxes_5x5")
    for game in (short, long):
        work = rollouts_in_reply(game) * plies_of_random_matches(game) * WORK_OF_PLY
        assert work == pytest.approx(WORK_OF_REPLY, rel=0.2)
    assert rollouts_in_reply(short) > 3 * rollouts_in_reply(long)
    assert allowed_in_reply(long, 0) == FEWEST


def rate(run: RunFolder, level: int, score: float) -> None:
    run.level(level).mkdir(parents=True)
    run.versus_rollouts(level).write_text(f"level,simulations,rollouts,score,wins\n{level},150,1400,{score},3\n")


def test_the_best_level_is_the_newest_that_is_better_than_random_matches(tmp_path):
    run = RunFolder(tmp_path)
    assert (rated_levels(run), best_level(run)) == ([], None)
    for level, score in enumerate((0.1, 0.6, 0.55, 0.5), 1):
        rate(run, level, score)
    assert [rated.score for rated in rated_levels(run)] == [0.1, 0.6, 0.55, 0.5]
    assert best_level(run) == Rated(3, 150, 1400, 0.55)


class Counted(Series):
    """Matches that are not played."""

    def play(self, game, players, watch=None):
        results = WinDrawLoss(len(self.matches), 0, 0)
        return PairResult(results, len(self.matches), 0, 0, results, 4)


@pytest.mark.parametrize(("random_matches", "matches"), [(4, MATCHES), (64, 10)])
def test_where_matches_are_long_each_move_is_less_work_and_then_fewer_are_played(random_matches, matches, monkeypatch):
    """Of 400 plies each, a quarter of the work, or 8 simulations of 64 random matches and a half of 400 plies."""
    monkeypatch.setattr(versus_rollouts, "Series", Counted)
    monkeypatch.setattr(versus_rollouts, "plies_of_random_matches", lambda game: 400)
    agent = agent_of(initial_network(GAME, {"name": "alphazero_mlp", "hidden_sizes": [32]}))
    monkeypatch.setattr(versus_rollouts, "MARGIN", 1)
    played = play_rollouts(agent, 0, Mixing(0.5, random_matches))
    work = played.simulations * random_matches * 400 * WORK_OF_PLY / 2
    assert work == pytest.approx(WORK_OF_MOVE / 4 if matches == MATCHES else 8 * 64 * 200 * WORK_OF_PLY, rel=0.1)
    assert played.rollouts * 400 * WORK_OF_PLY == pytest.approx(work, rel=0.1)
    assert played.result.results.matches == matches


@pytest.mark.parametrize(
    ("won", "was_unmixed", "is_mixed"),
    [(11, False, True), (14, False, True), (15, False, False), (11, True, False), (10, True, True)],
)
def test_levels_go_on_with_or_without_random_matches_until_the_other_way_clearly_beats_it(
    won, was_unmixed, is_mixed, monkeypatch
):
    """Of 24 matches of a level without random matches against the same with them."""

    class Known(Series):
        def play(self, game, players, watch=None):
            wins = won if isinstance(players[1].search.evaluator, MixedEvaluator) else 20
            results = WinDrawLoss(wins, 0, len(self.matches) - wins)
            return PairResult(results, len(self.matches), 0, 0, results, 4)

    monkeypatch.setattr(versus_rollouts, "Series", Known)
    agent = agent_of(initial_network(GAME, {"name": "alphazero_mlp", "hidden_sizes": [32]}))
    mixing = Mixing(0.5, 4)
    played = play_rollouts(agent, 0, mixing, was_unmixed=was_unmixed)
    assert played.mixing == (mixing if is_mixed else UNMIXED)
    assert played.result.results == WinDrawLoss(20, 0, 20)


def test_a_level_that_was_rated_with_random_matches_searches_with_them(tmp_path):
    run = RunFolder(tmp_path)
    run.level(1).mkdir(parents=True)
    columns = "level,simulations,rollouts,score,rollout_share,mixed_rollouts"
    run.versus_rollouts(1).write_text(f"{columns}\n1,150,1400,0.6,0.5,4\n")
    assert best_level(run).search(70) == "mcts:level:1?simulations=70&rollout_share=0.5&rollouts=4"


def test_a_level_that_is_better_without_random_matches_plays_its_matches_without_them(tmp_path):
    run, learner = RunFolder(tmp_path), Policy(rollout_share=0.5)
    given = SimpleNamespace(folder=run), SimpleNamespace(number=2, learner=learner)
    assert playing_learner(*given) == learner
    run.level(1).mkdir(parents=True)
    for share in (0.5, 0.0):
        run.versus_rollouts(1).write_text(
            f"level,simulations,rollouts,score,rollout_share,mixed_rollouts\n1,150,1400,0.6,{share},{int(99 * share)}\n"
        )
        assert playing_learner(*given) == Policy(rollout_share=share)


def test_long_matches_are_rated_with_less_work_for_a_move_and_then_fewer_matches(monkeypatch):
    agent = agent_of(initial_network(GAME, {"name": "alphazero_mlp", "hidden_sizes": [32]}))
    usual = play_rollouts(agent, 0)
    monkeypatch.setattr(versus_rollouts, "WORK_OF_RATING", versus_rollouts.WORK_OF_RATING / 100)
    less = play_rollouts(agent, 0)
    assert less.rollouts < usual.rollouts
    assert less.result.results.matches == usual.result.results.matches == MATCHES
    monkeypatch.setattr(versus_rollouts, "WORK_OF_RATING", versus_rollouts.WORK_OF_RATING / 1e6)
    assert play_rollouts(agent, 0).result.results.matches == 10
