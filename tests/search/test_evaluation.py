"""Evaluations: the example of the article, valid and invalid files, values of open and finished positions."""

from dataclasses import replace

import pytest
import torch

from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.games.feature_kernels import feature_values
from selfplay.named_players.evaluations import make_evaluation
from selfplay.playing.analysis import features_report
from selfplay.search.feature_evaluation import FeatureEvaluation, evaluation_text
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run
from tests.support.searches import position_values

OTHELLO, SMALL = make_game("othello"), make_game("othello_4x4")
EXAMPLE = {
    **{"discs": 30, "corners": 2, "stable": 5, "mobility": 15},
    **{"frontier": 10, "parity": 3, "patterns": 20},
}


def written(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return str(path)


def report_of(**features: float) -> str:
    given = [f"features={{{','.join(f'{name}: {value}' for name, value in features.items())}}}"]
    return features_report(Run.of(compose_settings_of(AnalysisSettings, "analysis", given)))


def test_the_articles_example_gives_164():
    assert report_of(**EXAMPLE).endswith("evaluation: +164 to the player to move")
    with pytest.raises(
        SettingError, match=r"^features\.edges=1: is not a feature; features of othello: discs, corners, "
    ):
        report_of(edges=1)
    with pytest.raises(SettingError, match=r"^features\.discs=many: must be a finite number$"):
        report_of(discs="many")


def test_an_open_position_is_worth_the_sum_and_a_finished_one_its_result():
    game = SMALL
    article = make_evaluation("article", game)
    weights = torch.from_numpy(article.table(game))[0]
    start = game.init(3)
    assert position_values(article, game, start).tolist() == (feature_values(game, start).double() @ weights).tolist()
    squares = game.width**2
    won = game.read_board("X" * (squares - 3) + "OOO", "X")
    lost = game.read_board("X" * (squares - 3) + "OOO", "O")
    drawn = game.read_board("XO" * (squares // 2), "X")
    values = [float(position_values(article, game, state)) for state in (won, lost, drawn)]
    assert values == [10_000 + squares - 6, -10_000 - squares + 6, 0]


def test_x_and_c_squares_have_weights_of_their_own_and_weights_can_depend_on_the_number_of_discs(tmp_path):
    # Black holds g7 besides the first four discs; white is to move.
    state = OTHELLO.read_board("-" * 27 + "OX------XO" + "-" * 17 + "X" + "-" * 9, "O")
    for weights, value in (("x_squares: -10", 10), ("c_squares: 3", 0), ("x_squares: -10, discs: [0, 1, 9]", 10 - 1)):
        text = f"win: 1000\nmargin: 0\nphases: [5, 7]\nweights: {{{weights}}}\n"
        assert float(position_values(make_evaluation(written(tmp_path, text), OTHELLO), OTHELLO, state)) == value
    text = "win: 1000\nmargin: 0\nphases: [5, 7]\nweights: {mobility: [1, 10, 100], frontier: 2}\n"
    evaluation = make_evaluation(written(tmp_path, text), OTHELLO)
    assert evaluation.phases == [5, 7]
    assert evaluation.weights_at(OTHELLO, 6).tolist() == [0, 0, 0, 10, 2, 0, 0, 0, 0]
    state = OTHELLO.init()
    for action, mobility in (("f5", 1), ("d6", 10), ("c3", 10), ("d3", 100), ("c4", 100)):
        features = dict(zip(OTHELLO.features.names, feature_values(OTHELLO, state)[0].tolist(), strict=True))
        expected = mobility * features["mobility"] + 2 * features["frontier"]
        assert float(position_values(evaluation, OTHELLO, state)) == expected
        state = OTHELLO.step(state, torch.tensor([OTHELLO.string_to_action(action)]))


@pytest.mark.parametrize(
    ("phases", "weights"),
    [
        ([], {"discs": 1 / 3, "stable": -1e-9}),
        ([20, 45], {"discs": [-1e-9, 0.0, 1 / 3], "x_squares": -2.0}),
    ],
)
def test_a_written_evaluation_is_read_back_equal(tmp_path, phases, weights):
    evaluation = FeatureEvaluation(0.1, 1e-17, weights, phases, game="othello_4x4")
    path = written(tmp_path, evaluation_text(evaluation))
    assert make_evaluation(path, make_game("othello_4x4")) == replace(evaluation, name=path)


def test_an_evaluation_of_features_is_refused_for_a_game_without_them():
    with pytest.raises(SettingError, match=r"^evaluation=article: tictactoe has no features; set evaluation=none$"):
        make_evaluation("article", make_game("tictactoe"))


FIT = "win: 1\nmargin: 0\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            FIT + "weights: {tempo: 1}",
            SettingError,
            "no feature 'tempo'; othello has discs, corners, stable, mobility, ",
        ),
        (FIT + "weights: {}\ngame: othello_6x6", SettingError, "it is for othello_6x6, not for othello$"),
        (FIT, InvalidFileError, "weights is missing"),
        (FIT + "weights: {discs: .nan}", InvalidFileError, "weights.discs=nan: must be a finite number"),
        (FIT + "weights: {discs: [1, 2]}\nphases: [9, 20]", SettingError, "discs has 2 weights for 3 phases; "),
        (FIT + "weights: {}\nphases: [20, 9]", InvalidFileError, "phases=.*: must be a list of ascending numbers"),
        ("win: [", InvalidFileError, "is not valid YAML: "),
    ],
)
def test_a_file_that_is_not_an_evaluation_is_refused_in_one_line(tmp_path, text, error, message):
    with pytest.raises(error, match=message) as caught:
        make_evaluation(written(tmp_path, text), OTHELLO)
    assert "\n" not in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_points_are_refused_for_a_game_without_points(tmp_path):
    path = written(tmp_path, "win: 1\nmargin: 1\nweights: {}")
    with pytest.raises(SettingError, match=r"tictactoe does not count points; set margin to 0$"):
        make_evaluation(path, make_game("tictactoe"))
