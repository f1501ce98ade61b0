"""The evaluation of a trained level: export, import, and rejected levels."""

import pytest
import torch

from selfplay.agents.checkpoints import save_checkpoint
from selfplay.api.stages import learn_levels
from selfplay.architectures import build_network
from selfplay.errors import InvalidFileError, StageError
from selfplay.games import make_game
from selfplay.named_players.evaluations import make_evaluation
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.evaluation import ExportSettings
from selfplay.settings.run import compose_settings
from selfplay.stages.search_files import export_evaluation
from tests.support.runs import COMMAND, report_of_comparison, run_forked
from tests.support.searches import position_values

GAME = make_game("othello")
WEIGHTS = [0.01, 0.2, 0.03, 0.04, -0.05, 0.06, 0.07]


def save_level(run_dir, level, architecture, game=GAME, scale=1.0):
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    if hasattr(network, "linear"):
        with torch.no_grad():
            network.linear.weight.copy_(scale * torch.tensor(WEIGHTS) * network.sizes)
    path = RunFolder(run_dir).agent(level)
    path.parent.mkdir(parents=True)
    save_checkpoint(path, network, game, level, architecture, {})
    return network


def export_settings(run_dir, game="othello", **values):
    return ExportSettings(run_dir=str(run_dir), game=GameSettings(game), **values)


def test_an_exported_evaluation_has_the_values_of_the_network(tmp_path):
    network = save_level(tmp_path, 3, {"name": "othello_features"})
    path = export_evaluation(export_settings(tmp_path, level=3))
    assert path == tmp_path / "level_03" / "evaluation.yaml"
    evaluation = make_evaluation(str(path), GAME)
    assert evaluation.weights == network.feature_weights()
    state = GAME.state_after(["f5", "d6", "c3", "d3", "c4"])
    # The network sees the player who has just moved.
    assert float(position_values(evaluation, GAME, state)) == pytest.approx(
        -network(GAME.observe(state)).value.item(), rel=1e-5
    )


def test_the_newest_level_is_exported_to_any_file_by_the_program(tmp_path):
    for level in (1, 2):
        save_level(tmp_path / "run", level, {"name": "othello_features"}, make_game("othello_4x4"))
    file = tmp_path / "my" / "weights.yaml"
    result = run_forked(COMMAND, "export-evaluation", "game=othello_4x4", f"run_dir={tmp_path / 'run'}", f"file={file}")
    assert (result.returncode, result.stdout) == (0, f"wrote {file}\n")
    assert file.read_text().startswith("# What level 2 has learned")
    assert make_evaluation(str(file), make_game("othello_4x4")).game == "othello_4x4"


def test_a_missing_level_and_one_without_feature_weights_are_refused(tmp_path):
    save_level(tmp_path, 1, {"name": "mlp"})
    with pytest.raises(InvalidFileError, match=r"architecture=mlp has no feature weights; train a level of Othello"):
        export_evaluation(export_settings(tmp_path, level=1))
    with pytest.raises(InvalidFileError, match=r"is for othello, not for othello_6x6; set game=othello \(a"):
        export_evaluation(export_settings(tmp_path, game="othello_6x6"))
    with pytest.raises(StageError, match=r"has no level 4; it has level 1$"):
        export_evaluation(export_settings(tmp_path, level=4))
    (tmp_path / "empty").mkdir()
    with pytest.raises(StageError, match=r"has no level 1; it has no trained level yet$"):
        export_evaluation(export_settings(tmp_path / "empty"))


@pytest.mark.slow
def test_the_loop_learns_othello_and_reports_what_it_cannot_prove(tmp_path):
    game = make_game("othello")
    tiny = ["recipe=othello_features", f"game={game.name}", "levels=1", "matches=20"]
    short = ["learner.epochs=2", "learner.steps_per_epoch=3", "comparison.matches=4"]
    references = ["comparison.references=[greedy_discs]", "comparison.endgames=0"]
    settings = compose_settings([*tiny, *short, *references, f"run_dir={tmp_path}"])
    learn_levels(settings)
    report = report_of_comparison(settings)
    assert "othello has too many positions to try every line, so level 1 is measured, not" in report
    path = export_evaluation(export_settings(tmp_path, game.name))
    assert make_evaluation(str(path), game).weights["corners"] != 0
