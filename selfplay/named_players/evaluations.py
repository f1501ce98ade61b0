"""The evaluations of searches by name: those of conf/evaluation/, files of the same form, and code of a user's own.

make_evaluation("article", game)              conf/evaluation/article.yaml
make_evaluation("my/evaluation.yaml", game)   a file of the same form
own_evaluation("my_module:lead", game)        a rule of positions, or a class that is called with the game
own_evaluator("my_module:Evaluator", game)    the same for tree search
"""

from pathlib import Path
from typing import Any

import torch

from selfplay.compute.bit_algebra import RULES
from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.games import Game
from selfplay.outside_errors import errors_of_outside
from selfplay.players.player import RandomPlayer
from selfplay.registry import Registry, is_module
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.search.evaluation import Evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation, read_evaluation
from selfplay.search.mcts.evaluator import MATCH_RETURN, PRIOR_TEMPERATURE, AfterstateEvaluator
from selfplay.search.rule_evaluation import RuleEvaluation

FOLDER = CONFIG_FOLDER / "evaluation"

EVALUATIONS: Registry[Any] = Registry(
    "evaluation",
    {},
    group="selfplay.evaluations",
)
"""Evaluations of other packages: each is a rule from a position to the outcome that the player to move can expect, from
-1 to 1, or called with the game it gives a `selfplay.search.evaluation.Evaluation`."""

EVALUATORS: Registry[Any] = Registry(
    "evaluator",
    {},
    group="selfplay.mcts_evaluators",
)
"""Evaluators of tree search of other packages: a rule as above, or called with the game, and with the text after a
further colon if there is one, it gives one of the evaluators of `selfplay.search.mcts.evaluator`."""

CHECKED_MATCHES = 4
"""Random matches in whose positions a rule must give numbers from -1 to 1."""


def is_own(text: str, registry: Registry[Any]) -> bool:
    """Whether a text names an entry point of a registry, or an attribute of a module that exists."""
    word, colon, _ = text.partition(":")
    return word in registry or (colon == ":" and is_module(word))


def own_evaluation(name: str, game: Game) -> Evaluation:
    """The evaluation with this name. Raises SettingError if it cannot be imported, made, or used for the game."""
    found = _made(EVALUATIONS, name, name, "", game)
    methods = ("name", "reply_value", "predicts_outcome", "unfinished_value", "unfinished_values", "parameters")
    if missing := [method for method in methods if not hasattr(found, method)]:
        raise SettingError(f"evaluation {shortened(name)!r}: is neither a rule nor an object with {missing[0]}")
    evaluation: Evaluation = found
    return evaluation


def own_evaluator(text: str, game: Game, temperature: float | None = None) -> Any:
    """The evaluator with this name, which may end in an argument. Raises SettingError as `own_evaluation`.

    `temperature`: of the priors of an evaluator that is a rule; None: the usual one.
    """
    name, _, argument = text.partition(":")
    if name not in EVALUATORS:
        attribute, _, argument = argument.partition(":")
        name = f"{name}:{attribute}"
    found = _made(EVALUATORS, name, text, argument, game)
    if isinstance(found, RuleEvaluation):
        return AfterstateEvaluator(found, MATCH_RETURN, PRIOR_TEMPERATURE if temperature is None else temperature)
    if temperature is not None:
        raise SettingError(f"evaluator {shortened(text)!r}: remove prior_temperature; it gives logits of its own")
    return found


def _made(registry: Registry[Any], name: str, text: str, argument: str, game: Game) -> Any:
    found = registry[name]
    with errors_of_outside(registry.kind, text, registry.module_of(name)):
        if not callable(found):
            raise SettingError(f"{registry.kind} {shortened(text)!r}: is neither a rule nor a class")
        if found not in RULES:
            return found(game, *([argument] if argument else []))
        evaluation, state, player = RuleEvaluation(text, found), game.init(CHECKED_MATCHES), RandomPlayer(game)
        for ply in range(game.max_game_length):
            evaluation.check(game, state)
            state = game.step_unchecked(state, player.act(state, Draws(0, torch.arange(CHECKED_MATCHES), ply)))
        return evaluation


def make_evaluation(name: str, game: Game) -> FeatureEvaluation:
    """Read the evaluation with this name from conf/evaluation/, or from the .yaml file at this path, for `game`.

    Raises:
        SettingError: the name is unknown, or the evaluation does not fit the game.
        InvalidFileError: the file is missing or not a valid evaluation.
    """
    evaluation = read_evaluation(evaluation_path(name), name)
    evaluation.table(game)  # raises if it does not fit
    return evaluation


def known_evaluations() -> list[str]:
    """The names of the evaluations in conf/evaluation/."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def evaluation_path(name: str) -> Path:
    """The file of the evaluation with this name, or `name` itself if it is the path of a .yaml file.

    Raises SettingError if the name is unknown.
    """
    known = known_evaluations()
    if name not in known and not name.endswith(".yaml"):
        others = "or use the path of a .yaml file, or module:rule"
        raise SettingError(f"unknown evaluation {name!r}; choose from {', '.join(known)}, {others}")
    return FOLDER / f"{name}.yaml" if name in known else user_path(name)
