"""Settings that a stage of a run would refuse hours later are refused before a file is written or replaced."""

import re
from dataclasses import replace

import pytest

from selfplay.api.stages import generate_level, learn_levels, train_level
from selfplay.errors import SettingError
from selfplay.settings.run import compose_settings
from selfplay.stages.learning_run import check_run
from tests.support.rejections import assert_refused
from tests.support.runs import LEARN, PROJECT, files_of, report_of_comparison, run_forked, tiny_settings

TABLES = ["architecture=ntuple", "learner=td", "levels=4"]


RECIPES = sorted(path.stem for path in (PROJECT / "conf" / "recipe").glob("*.yaml"))
NEEDS_FILES = {
    "alphazero_go_9x9": "first_agent=.*level_01/agent.safetensors: there is no such file; first run .*selfplay learn "
    "recipe=alphazero_go .* run_dir=outputs/go_any_size$",
    "othello_records": "learner.files=.*: learner=records needs files of matches, such as",
}
"""What a recipe says that cannot start by its name alone."""


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_starts_by_its_name_alone_or_says_what_comes_first(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = compose_settings([f"recipe={recipe}", "run_dir=outputs/new"])
    if recipe in NEEDS_FILES:
        with pytest.raises(SettingError, match=f"^{NEEDS_FILES[recipe]}"):
            check_run(settings)
    else:
        check_run(settings)


def expert(name: str) -> list[str]:
    return [*TABLES, f"from_level={{3:{{learner:expert,learner.expert:'search:{name}'}}}}"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            [*TABLES, "from_level={3:{learner.self_play:'search:negascout?depth=3&endgame=6'}}"],
            "learner.self_play=search:negascout?depth=3&endgame=6: game=tictactoe has no exact solver",
        ),
        (
            [*TABLES, "learner.self_play='search:negascout?probcut=1'"],
            "learner.self_play=search:negascout?probcut=1: probcut needs evaluation=level:L or evaluation=pretrained",
        ),
        (expert("negascot?depth=3"), "learner.expert=search:negascot?depth=3: unknown search 'negascot'; choose from"),
        (
            expert("negascout?depth=3&evaluation=article"),
            "learner.expert=search:negascout?depth=3&evaluation=article: evaluation=article: tictactoe has no features",
        ),
        (
            expert("negascout?depth=3&evaluation=level:3"),
            "learner.expert=search:negascout?depth=3&evaluation=level:3: .* has no level 3",
        ),
        (
            ["learner.exact_from=3", "dataset.format=parquet"],
            "learner.exact_from: tictactoe has no exact solver; set learner.exact_from=null",
        ),
        (
            ["comparison.references=[random,greedy_discs]"],
            r'comparison.references=\["random","greedy_discs"\]: not used in tictactoe, .*comparison.references=null',
        ),
        (
            [*TABLES, "dataset.format=parquet"],
            "dataset.format=parquet: not used with learner=td, .*; set dataset.format=csv, its default",
        ),
        *(
            ([f"comparison.{name}=3"], f"comparison.{name}=3: not used in tictactoe, which .*; set comparison.{name}=")
            for name in ("opening_plies", "every", "earlier_matches", "endgames", "judged", "perfect_matches")
        ),
    ],
    ids=lambda value: value[-1].partition("=")[0] if isinstance(value, list) else "",
)
def test_what_a_later_stage_would_refuse_is_refused_before_the_first(tmp_path, given, sentence):
    with pytest.raises(SettingError, match=f"^{sentence.replace('?', '[?]')}") as refused:
        learn_levels(tiny_settings(tmp_path, *given))
    assert "\n" not in str(refused.value)
    assert not files_of(tmp_path)


@pytest.mark.parametrize(
    ("game", "setting", "reason"),
    [
        ("connect_four", "endgames=3", "has an exact solver of whole matches"),
        ("breakthrough", "endgames=3", "has no board that fills"),
        ("breakthrough", "judged=3", "has no exact solver of whole matches"),
        ("hex_5x5", "perfect_matches=3", "has no exact solver of whole matches"),
        ("hex_5x5", "epsilons=[0.3]", "is too large .* levels learn no policy"),
    ],
)
def test_what_no_measure_of_the_game_reads_is_refused(tmp_path, game, setting, reason):
    name = f"comparison.{setting.partition('=')[0]}"
    with pytest.raises(
        SettingError, match=f"^{name}=.*: not used in {game}, which {reason}; set {name}=.*, its default$"
    ):
        check_run(tiny_settings(tmp_path, f"game={game}", f"comparison.{setting}"))


@pytest.mark.parametrize(
    "given",
    [
        ["game=hex_5x5", "comparison.endgames=3", "comparison.opening_plies=2", "comparison.every=3"],
        ["game=connect_four", "comparison.judged=3", "comparison.perfect_matches=2", "comparison.earlier_matches=4"],
        ["comparison.epsilons=[0.3]", "comparison.endgames=0", "comparison.judged=0"],
        # The recipe of a larger game, on a small board.
        ["recipe=alphazero_gomoku", "game=tictactoe"],
    ],
    ids=str,
)
def test_what_a_measure_reads_is_accepted(tmp_path, given):
    check_run(tiny_settings(tmp_path, *given))


def test_references_that_cannot_be_made_are_refused_before_anything_is_learned(tmp_path):
    reasons = {
        "perfect": "hex_5x5 has more than 1,000,000 positions",
        "greedy_discs": "hex_5x5 has no features",
        "pretrained": "no pretrained agent for game=hex_5x5",
        "policy:1": "level 1 has no policy head",
        "search:nega": "unknown search 'nega'",
        "level:2?depth=9": "depth=9: a network searches 1 to 3 plies ahead",
        "level:2?depth=x": "depth must be a whole number",
        "level:3": ".* has no level 3",
        "mcts:level:1?simulations=0": "simulations=0: must be",
        "gtp:": "write gtp:COMMAND",
        "gtp:no_such_engine": ".*no_such_engine",
    }
    for name, reason in reasons.items():
        settings = tiny_settings(tmp_path, "game=hex_5x5", "levels=2", f"comparison.references=['level:2','{name}']")
        with pytest.raises(SettingError, match=f"^comparison.references={re.escape(name)}: {reason}"):
            check_run(settings)
    assert not files_of(tmp_path)


def test_levels_that_are_yet_to_be_learned_may_be_named(tmp_path):
    own = "2:{learner.self_play:'search:negascout?depth=2&evaluation=level:1'}"
    taught = "3:{learner:expert,learner.expert:'search:negascout?depth=2&evaluation=level:2'}"
    check_run(tiny_settings(tmp_path, *TABLES, f"from_level={{{own},{taught}}}"))
    references = "['level:4?depth=2','mcts:level:1?simulations=2','search:negascout?evaluation=level:3']"
    check_run(tiny_settings(tmp_path, *TABLES, "game=hex_5x5", f"comparison.references={references}"))


def test_refused_settings_leave_finished_stages_as_they_are(run_copy):
    before = files_of(run_copy)
    stages = {
        "learner=policy": [lambda it: generate_level(it, 0), lambda it: train_level(it, 1), learn_levels],
        "player.depth=9": [lambda it: generate_level(it, 2), learn_levels],
        "opponent=level:9": [lambda it: generate_level(it, 1)],
        "comparison.references=[greedy_discs]": [report_of_comparison],
    }
    for setting, refusing in stages.items():
        settings = tiny_settings(run_copy, setting, "force=true", "learner.gamma=0.5")
        for stage in refusing:
            with pytest.raises(
                SettingError, match=r"no policy head|depth=9|opponent=level:9|comparison.references=.*not used"
            ):
                stage(settings)
    result = run_forked(LEARN, "architecture=conv", "learner=policy", "force=true", f"run_dir={run_copy}")
    assert_refused(result, 2, "architecture=conv has no policy head, ", "; set architecture=")
    assert files_of(run_copy) == before
    assert learn_levels(tiny_settings(run_copy)).levels == (1, 2, 3)
    assert files_of(run_copy) == before


def test_the_stages_of_a_loop_in_one_process_are_checked_once(tmp_path, monkeypatch):
    checked = []
    monkeypatch.setattr("selfplay.stages.learning_run.check_learner", lambda run, first, agent: checked.append(first))
    settings = tiny_settings(tmp_path, "levels=1", "from_level={2:{matches:200}}")
    check_run(settings)
    assert generate_level(replace(settings, level=0), 0)
    assert train_level(replace(settings, level=1), 1)
    assert checked == [1, 2]
    check_run(replace(settings, seed=7))
    assert checked == [1, 2, 1, 2]
