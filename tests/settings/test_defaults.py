"""Every default is defined in the dataclass only; the files of conf/ contain only what differs."""

from functools import cache
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.settings.classical import ExperienceJsonSettings, ExperiencePictureSettings, TabularSettings
from selfplay.settings.common import CommonSettings, Leaf, default_of_field, leaves
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings, ExportSettings, ProbCutSettings, SolveSettings
from selfplay.settings.matches import (
    CompeteSettings,
    CorrectionSettings,
    MatchSettings,
    ProofSettings,
    TournamentSettings,
)
from selfplay.settings.playing import (
    ExperiencePlaySettings,
    ExportPageSettings,
    GomocupSettings,
    GtpSettings,
    NBoardSettings,
    PlaySettings,
    UciSettings,
    WebSettings,
)
from selfplay.settings.run import Settings
from selfplay.settings.tools import CheckGameSettings, ExportOnnxSettings

PROGRAMS: dict[str, type[CommonSettings]] = {
    "config": Settings,
    "analysis": AnalysisSettings,
    "check_game": CheckGameSettings,
    "compete": CompeteSettings,
    "compare_runs": CommonSettings,
    "experience_json": ExperienceJsonSettings,
    "experience_picture": ExperiencePictureSettings,
    "experience_play": ExperiencePlaySettings,
    "export_evaluation": ExportSettings,
    "export_onnx": ExportOnnxSettings,
    "export_page": ExportPageSettings,
    "fit_probcut": ProbCutSettings,
    "gomocup": GomocupSettings,
    "gtp": GtpSettings,
    "matches": MatchSettings,
    "nboard": NBoardSettings,
    "play": PlaySettings,
    "prove": ProofSettings,
    "correct": CorrectionSettings,
    "solve": SolveSettings,
    "tabular": TabularSettings,
    "tournament": TournamentSettings,
    "uci": UciSettings,
    "web": WebSettings,
}

SET_BY_CONF = (
    "run_dir",
    "game.name",
    "architecture",
    "evaluation.",
    "search.",
    "json",
    "picture.file",
    "experience.path",
    "learner.name",
)
"""Settings that depend on others, and those that an option of a group sets."""

GROUP_FILES = [
    (name, path)
    for name, group in (("config", "recipe"), ("config", "executor"), ("config", "game"), ("tabular", "agent"))
    for path in sorted((CONFIG_FOLDER / group).glob("*.yaml"))
]


def test_every_program_has_its_settings() -> None:
    assert {path.stem for path in CONFIG_FOLDER.glob("*.yaml")} == {*PROGRAMS, "common"}


@cache
def found_leaves(name: str) -> list[Leaf]:
    """The settings of a program without overrides."""
    return list(leaves(compose_settings_of(PROGRAMS[name], name)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_overrides_every_setting_has_the_default_of_its_field(name: str) -> None:
    # What the options that are chosen without overrides set: the recipe, and the agent.
    chosen = {"config": "recipe/default.yaml", "tabular": "agent/temporal_difference.yaml"}.get(name)
    expected = flat(contents(CONFIG_FOLDER / chosen)) if chosen else {}
    for leaf in found_leaves(name):
        if not leaf.name.startswith(SET_BY_CONF):
            assert leaf.value == expected.get(leaf.name, default_of_field(leaf.field)), leaf.name


def test_no_option_of_a_group_repeats_a_default() -> None:
    for name, path in GROUP_FILES:
        defaults = {leaf.name: default_of_field(leaf.field) for leaf in found_leaves(name)}
        # The name of an option is its value of one setting, even where that is the default.
        content = [(key, value) for key, value in flat(contents(path)).items() if not key.startswith("from_level.")]
        repeated = [key for key, value in content if value == defaults.get(key) and value != path.stem]
        assert set(repeated) <= set(inherited(path)), path


def inherited(path: Path) -> dict[str, object]:
    """What the options of the same group set on which that in a file is based."""
    based_on = OmegaConf.load(path).get("defaults", [])
    files = [path.with_name(f"{name}.yaml") for name in based_on if isinstance(name, str) and name != "_self_"]
    return {key: value for file in files for key, value in flat(contents(file)).items()}


def contents(path: Path) -> dict[str, object]:
    """The settings in a file of an option."""
    content = OmegaConf.to_container(OmegaConf.load(path)) or {}
    assert isinstance(content, dict)
    content.pop("defaults", None)
    return {str(name): value for name, value in content.items()}


def flat(content: dict[str, object], prefix: str = "") -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in content.items():
        result |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return result
