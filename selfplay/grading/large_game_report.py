"""Sentences about the measurement of the newest level of a large game."""

from selfplay.games import Game
from selfplay.games.win_draw_loss import WORSE, sign_test, wilson_interval
from selfplay.grading.comparison_schedule import name_of
from selfplay.grading.endgame_positions import EndgameGrade
from selfplay.grading.judge.report import judgement_text
from selfplay.grading.large_game_comparison import Measurement
from selfplay.grading.policy_measures import policy_text
from selfplay.matches.pair_results import PairResult


def measured_verdict(game: Game, measurement: Measurement) -> str:
    """How the newest level does against its opponents and in solved positions, its rating, and whom it loses to."""
    level = measurement.newest
    lines = [f"{game.name} has too many positions to try every line, so level {level} is measured, not proved."]
    lines += [f"Starting from {_openings_text(measurement.opening_plies)}, with each player first once, level {level}"]
    lines += [f"  won {_won_text(name_of(who), result)}" for who, result in measurement.versus_references().items()]
    lines += _endgames_text(measurement)
    if measurement.judgement is not None:
        lines += judgement_text(measurement.judgement, measurement.levels, measurement.references)
    lines += policy_text(measurement.policies)
    points, low, high = measurement.ratings[level]
    best = max(measurement.references, key=lambda name: measurement.ratings[name].points, default=None)
    rating = f"Level {level} has a rating of {points:.0f} ({low:.0f}..{high:.0f}); the random player has 0"
    lines.append(f"{rating}." if best is None else f"{rating}\nand {best} has {measurement.ratings[best].points:.0f}.")
    return "\n".join([*lines, f"It opens with {measurement.first_action}.", forgotten_text(level, measurement)])


def forgotten_text(level: int, measurement: Measurement) -> str:
    """The earlier levels to which the newest level loses by the sign test, one per line, or that there are none."""
    met = measurement.versus_earlier()
    lost = {earlier: results for earlier, results in met.items() if sign_test(results) == WORSE}
    if not lost:
        return f"Level {level} loses to none of the earlier levels it was tried against: {', '.join(map(str, met))}."
    return "\n".join(
        f"Level {level} now loses to level {earlier}: {results} (won-drawn-lost)." for earlier, results in lost.items()
    )


def _openings_text(plies: int) -> str:
    return f"random openings of {plies} plies" if plies else "the initial position"


def _won_text(opponent: str, result: PairResult) -> str:
    wins, matches = result.results.wins, result.results.matches
    low, high = wilson_interval(wins, matches)
    share = f"{wins / matches:.3f} ({low:.3f}..{high:.3f})"
    return f"{share} of {matches} matches against {opponent}, {result.distinct} of them different"


def _endgames_text(measurement: Measurement) -> list[str]:
    """How the newest level, the best reference and the random player act in endgame positions, a line each."""
    if measurement.endgames is None:
        return []
    (fewest, most), count = measurement.endgames.empties, measurement.endgames.state.batch_size
    squares = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    others = [who for who in measurement.versus_references() if who in measurement.endgame_grades]
    best = max(others, key=lambda who: measurement.endgame_grades[who].optimal)
    shown = {who: _endgame_text(measurement.endgame_grades[who]) for who in (measurement.newest, best, 0)}
    lines = [f"In {count} solved positions with {squares} empty squares, in which the choice matters, a best action is"]
    lines.append("chosen by")
    return [*lines, *(f"  {name_of(who)} in {text}" for who, text in shown.items())]


def _endgame_text(grade: EndgameGrade) -> str:
    share = f"{grade.optimal:.3f} of them"
    return share if grade.mean_loss is None else f"{share}; it gives away {grade.mean_loss:.2f} points per move"
