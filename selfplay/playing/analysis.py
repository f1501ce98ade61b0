"""Analyses one position with several searches, and shows the features of which its value is the sum."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from selfplay.errors import SettingError
from selfplay.games import Game, State
from selfplay.games.feature_kernels import feature_values
from selfplay.games.payoff_tree import PayoffTree
from selfplay.named_players.evaluations import make_evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher, SearchResult
from selfplay.search.trace import Trace
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run

MOST_TRACED = 20_000
"""Positions visited by a search of which a picture is drawn; recording them takes 0.3 ms each."""


class Analysis(NamedTuple):
    """The results of the searches in one position."""

    game: Game
    state: State
    """One position, of a match that is not over."""
    evaluation: FeatureEvaluation
    results: dict[str, SearchResult]
    """By name of the search."""

    def searches_table(self) -> pd.DataFrame:
        """One row per search: value, action, positions visited, and the principal variation."""
        game, state = self.game, self.state
        rows = [
            {
                "search": search,
                "value": f"{result.value:+g}",
                "action": game.action_text(result.action, int(state.current_player)),
                "visited": f"{result.visited:,}",
                "variation": " ".join(game.line_texts(result.principal_variation, state)),
            }
            for search, result in self.results.items()
        ]
        return pd.DataFrame(rows)

    def features_table(self) -> pd.DataFrame | None:
        """One row per feature: its value to the player to move, weight and product; None in a game without features."""
        if self.game.features is None:
            return None
        values = feature_values(self.game, self.state)[0].tolist()
        stones = int(self.game.stone_counts(self.state))
        return _products(self.game.features.names, values, self.evaluation.weights_at(self.game, stones))


def _products(names: Sequence[str], values: Sequence[float], weights: NDArray[np.float64]) -> pd.DataFrame:
    table = pd.DataFrame({"feature": list(names), "value": values, "weight": weights})
    table["product"] = table["value"] * table["weight"] + 0.0  # no -0
    return table


def analyse(run: Run[AnalysisSettings]) -> Analysis:
    """Analyse the position after the moves in the settings, or the game tree; write the picture, if any.

    Raises:
        SettingError: the game, evaluation or search is unknown, the match is over, or too many positions are visited
            for a picture.
        IllegalActionError: a move is illegal.
        StageError: the picture cannot be written.
    """
    settings = run.settings
    is_position, has_picture = settings.game_tree.payoffs is None, settings.picture.file is not None
    if is_position:
        game = run.game
        state, evaluation, depth = game.position_after(settings.moves), _evaluation_of(settings, game), settings.depth
        if bool(state.terminated):
            raise SettingError(f"moves={settings.moves}: the match is over after these moves; use fewer")
    else:
        game = PayoffTree(settings.game_tree.payoffs)
        evaluation = FeatureEvaluation(win=0.0, margin=1.0, weights={}, name="payoffs")
        state, depth = game.init(), min(settings.depth, game.max_game_length)
    is_traced = has_picture or not is_position
    parameters = settings.search
    if is_traced and parameters.min_scout_depth is None:
        parameters = replace(parameters, min_scout_depth=2)
    results, traces = {}, {}
    for name in settings.searches:
        searcher = Searcher(game, evaluation, name, parameters)
        if is_position:
            results[name] = searcher.search(state, depth)
            if has_picture and (visited := results[name].visited) > MOST_TRACED:
                raise SettingError(
                    f"picture.file: {name} visits {visited:,} positions, and a picture is drawn of searches of at "
                    f"most {MOST_TRACED:,}; set a smaller depth"
                )
        if is_traced:
            results[name], traces[name] = searcher.trace(state, depth)
    analysis = Analysis(game, state, evaluation, results)
    if has_picture:
        _draw(settings, analysis, traces)
    return analysis


def _draw(settings: AnalysisSettings, analysis: Analysis, traces: Mapping[str, Trace]) -> None:
    # matplotlib takes as long to import as the rest of the program.
    from selfplay.figures.game_tree import picture_of_searches, turns_from
    from selfplay.figures.style import save_figure

    game, picture = analysis.game, settings.picture
    assert picture.file is not None
    names = game.presentation.player_names
    to_move = int(analysis.state.current_player[0])
    searched = {name: (result, traces[name]) for name, result in analysis.results.items()}

    players = names[to_move], names[1 - to_move]

    def name_of_last(actions: Sequence[int]) -> str:
        return game.line_texts(actions, analysis.state)[-1]

    turns = turns_from(game, analysis.state)
    figure = picture_of_searches(searched, name_of_last, players, turns, picture.depth, picture.breadth)
    save_figure(figure, Path(picture.file))


def _evaluation_of(settings: AnalysisSettings, game: Game) -> FeatureEvaluation:
    if settings.evaluation_file is not None:
        return make_evaluation(settings.evaluation_file, game)
    return FeatureEvaluation(**vars(settings.evaluation))


def analysis_report(analysis: Analysis) -> str:
    """The board and the tables as text."""
    game, state = analysis.game, analysis.state
    to_move = f"{game.presentation.player_names[int(state.current_player[0])]} to move"
    parts = [f"{game.presentation.board_text(state)}\n{to_move}"]
    features = analysis.features_table()
    if features is not None:
        parts.append(_sum_text(features, analysis.evaluation))
    parts.append(analysis.searches_table().to_string(index=False))
    return "\n\n".join(parts)


def features_report(run: Run[AnalysisSettings]) -> str:
    """The evaluation of the features in the settings, without a position, with the weights of the first phase, as text.

    Raises SettingError if the game does not have such a feature.
    """
    settings, game = run.settings, run.game
    names = () if game.features is None else game.features.names
    for name, value in settings.features.items():
        if name not in names:
            known = f"features of {game.name}: {', '.join(names) or 'none'}"
            raise SettingError(f"features.{name}={value}: is not a feature; {known}")
    evaluation = _evaluation_of(settings, game)
    values = [settings.features.get(name, 0) for name in names]
    return _sum_text(_products(names, values, evaluation.weights_at(game, 0)), evaluation)


def _sum_text(features: pd.DataFrame, evaluation: FeatureEvaluation) -> str:
    text = features.to_string(index=False, float_format="{:g}".format)
    return f"{text}\n{evaluation.name}: {float(features['product'].sum()):+g} to the player to move"
