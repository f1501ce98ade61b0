"""The option probcut of searching players, and the fit of its parameters."""

import logging
import re
import shutil

import pytest
import torch

from selfplay.agents.pretrained import pretrained_agent
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.search.probcut import read_probcut
from selfplay.settings.common import GameSettings
from selfplay.settings.evaluation import ProbCutSettings
from selfplay.stages.search_files import fit_probcut

OTHELLO, CONNECT_FOUR = make_game("othello"), make_game("connect_four")
PRETRAINED = "search:negascout?depth=3&evaluation=pretrained&probcut=1.5"


@pytest.fixture
def run_dir(tmp_path):
    """A run of Connect Four with one level."""
    shutil.copytree(pretrained_agent("connect_four").parent.parent, tmp_path / "run")
    return tmp_path / "run"


def test_the_pretrained_agent_of_othello_comes_with_its_parameters():
    player = make_player(PRETRAINED, OTHELLO, "")
    fitted = read_probcut(pretrained_agent("othello").with_name("probcut.yaml"))
    assert player.searcher.probcut.margins.tolist() == fitted.probing(1.5).margins.tolist()
    assert {path.name for path in files_of_player(PRETRAINED, "")} == {"agent.safetensors", "probcut.yaml"}


def test_where_nothing_was_fitted_the_error_names_the_command(run_dir):
    text = "search:negascout?depth=3&evaluation=level:15&probcut=1.5"
    reason = r"probcut was not fitted to this agent; run .*fit.probcut\S* game=connect_four run_dir=\S+run level=15$"
    with pytest.raises(SettingError, match=reason):
        make_player(text, CONNECT_FOUR, run_dir)


@pytest.mark.slow
def test_parameters_are_fitted_to_a_level_and_to_its_weights_only(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    run_dir = tmp_path / "run"
    shutil.copytree(pretrained_agent("othello").parent, run_dir / "level_11")
    settings = ProbCutSettings(str(run_dir), GameSettings("othello"), positions=600, deepest=4)
    path = fit_probcut(settings)
    assert path == run_dir / "level_11" / "probcut.yaml"
    assert re.search(r"wrote .*probcut\.yaml", caplog.text)
    parameters, first = read_probcut(path), path.read_bytes()
    assert [(check.deep, check.shallow) for check in parameters.checks] == [(3, 1), (4, 2)]
    assert 500 < parameters.positions <= 600, "a match may end in its random opening"
    assert all(0.5 < slope < 2 for check in parameters.checks for slope in check.slope)
    assert fit_probcut(settings).read_bytes() == first
    text = "search:negascout?depth=6&evaluation=level:11&probcut=1.5"
    draws = Draws(stream_key(0, 0, Activity.NAMED_PLAYERS), torch.arange(1), 0)
    chosen = make_player(text, OTHELLO, run_dir).act(OTHELLO.init(), draws)
    assert OTHELLO.action_to_string(int(chosen)) in {"c4", "d3", "e6", "f5"}
    path.write_text(path.read_text().replace(parameters.agent_sha256, "0" * 64))
    with pytest.raises(SettingError, match=r"was fitted to other weights; run .* again"):
        make_player(text, OTHELLO, run_dir)
