"""Messages about the parameters of a learner name settings as the user has to write them, also in their advice."""

import pytest

from selfplay.errors import SettingError
from selfplay.settings.run import compose_settings
from selfplay.stages.learning_run import check_run

DISCOUNTED = "gamma=0.9: cannot be combined with learner.value_share=0.5, whose values are not discounted"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["learner.value_share=0.5"], f"learner.{DISCOUNTED}; set learner.gamma=1"),
        (["from_level={2:{learner.value_share:0.5}}"], f"from_level.2.learner.{DISCOUNTED}; set learner.gamma=1"),
        (
            ["learner.outcome=disc_difference"],
            "learner.outcome=disc_difference: tictactoe does not count points; set learner.outcome=return",
        ),
        (["learner.exact_from=3"], "learner.exact_from: tictactoe has no exact solver; set learner.exact_from=null"),
        (
            ["learner=policy", "architecture=alphazero_mlp", "learner.constants.c=1"],
            "learner.constants=c: learner.rule=gumbel has c_visit, c_scale, considered, gumbel_scale",
        ),
        (
            ["learner=td", "architecture=ntuple", "learner.self_play='random?epsilon=0.1'"],
            "learner.self_play=random?epsilon=0.1: finds no values to learn from; set mcts:..., or search:... with "
            "architecture=ntuple",
        ),
        (
            ["learner=expert", "architecture=ntuple"],
            "learner=expert: teaches levels that another learner has made; set it from a level on, as in "
            "from_level={2:{learner:expert}}",
        ),
    ],
)
def test_advice_names_settings(overrides: list[str], message: str) -> None:
    with pytest.raises(SettingError) as raised:
        check_run(compose_settings(overrides))
    assert str(raised.value) == message
