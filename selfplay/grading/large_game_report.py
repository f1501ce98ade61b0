"""What a measurement says, in words."""

from selfplay.games import Game
from selfplay.grading.comparison_schedule import name_of
from selfplay.grading.endgame_positions import EndgameGrade
from selfplay.grading.large_game_comparison import Measurement
from selfplay.matches.result_counts import Tally


def measured_verdict(game: Game, measurement: Measurement) -> str:
    """What was measured of the newest level: against whom, how late, where it stands, and what it has forgotten."""
    level = measurement.newest
    lines = [f"{game.name} has too many positions to try every line, so level {level} is measured, not proved."]
    lines += [f"From {_openings_text(measurement.opening_plies)}, each played from both seats, level {level} has"]
    lines += [f"  won {_won_text(name_of(who), tally)}" for who, tally in measurement.versus_references().items()]
    lines += _late_text(measurement)
    points, low, high = measurement.ratings[level]
    best = max(measurement.references, key=lambda name: measurement.ratings[name].points, default=None)
    rating = f"Level {level} has a rating of {points:.0f} ({low:.0f}..{high:.0f}), where the random player has 0"
    lines.append(f"{rating}." if best is None else f"{rating}\nand {best} {measurement.ratings[best].points:.0f}.")
    return "\n".join([*lines, f"It opens with {measurement.first_action}.", forgotten_text(level, measurement)])


def forgotten_text(level: int, measurement: Measurement) -> str:
    """Which of the earlier levels that it has met the newest level loses to, by the sign test; a line each."""
    met = measurement.versus_earlier()
    forgotten = {earlier: tally for earlier, tally in met.items() if tally.word == "worse"}
    if not forgotten:
        return f"Level {level} has forgotten how to beat none of the levels tried: {', '.join(map(str, met))}."
    return "\n".join(
        f"Level {level} has forgotten how to beat level {earlier}: {tally.wins}-{tally.draws}-{tally.losses}."
        for earlier, tally in forgotten.items()
    )


def _openings_text(plies: int) -> str:
    return f"random openings of {plies} plies" if plies else "the start"


def _won_text(opponent: str, tally: Tally) -> str:
    low, high = tally.interval(tally.wins)
    share = f"{tally.wins / tally.matches:.3f} ({low:.3f}..{high:.3f})"
    return f"{share} of {tally.matches} matches against {opponent}, {tally.distinct} of them different"


def _late_text(measurement: Measurement) -> list[str]:
    """How the newest level, the random player and the best of the references fare in late positions, a line each."""
    if measurement.late is None:
        return []
    (fewest, most), count = measurement.late.empties, measurement.late.state.batch_size
    squares = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    others = [who for who in measurement.versus_references() if who in measurement.endgame_grades]
    best = max(others, key=lambda who: measurement.endgame_grades[who].optimal)
    shown = {who: _late_grade_text(measurement.endgame_grades[who]) for who in (measurement.newest, best, 0)}
    lines = [
        f"In {count} solved positions with {squares} empty squares, where the choice matters, a best one is made by"
    ]
    return [*lines, *(f"  {name_of(who)} in {text}" for who, text in shown.items())]


def _late_grade_text(grade: EndgameGrade) -> str:
    share = f"{grade.optimal:.3f} of them"
    return share if grade.mean_loss is None else f"{share}, and {grade.mean_loss:.2f} points are given away a move"
