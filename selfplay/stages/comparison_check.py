"""Whether the levels of a run can be compared as its settings say; asked when the run is opened."""

from dataclasses import asdict

from selfplay.errors import SettingError, shortened
from selfplay.grading.comparison import unused_parameters
from selfplay.learners.learner_calls import asked
from selfplay.named_players.make import make_player, naming_player
from selfplay.named_players.names import StandIn
from selfplay.settings.recorded import setting_text, usual_settings
from selfplay.settings.run import ComparisonSettings, Run, Settings


def check_comparison(run: Run[Settings], stand_in: StandIn | None = None) -> None:
    """Raise SettingError if a reference player cannot be made, or a comparison would not read a given setting.

    A setting that asks for nothing, such as endgames=0, is accepted in every game, and so is what a recipe says.
    """
    settings, game, defaults = run.settings, run.game, asdict(ComparisonSettings())
    learners = [settings.at_level(first).learner for first in (1, *settings.from_level)]
    given = {name: value for name, value in asdict(settings.comparison).items() if value and value != defaults[name]}
    if given:
        usual = usual_settings(settings.recipe)
        learns_policy = any(asked(learner, learner.learns_policy, bool) for learner in learners)
        for name, reason in unused_parameters(game, learns_policy=learns_policy).items():
            if name in given and given[name] != usual.get(f"comparison.{name}"):
                text = shortened(setting_text(given[name]))
                raise SettingError(
                    f"comparison.{name}={text}: not used in {game.name}, which {reason}; "
                    f"set comparison.{name}={setting_text(defaults[name])}, its default"
                )
    for text in settings.comparison.references or []:
        with naming_player("comparison.references", text):
            make_player(text, game, settings.run_dir, stand_in=stand_in)
