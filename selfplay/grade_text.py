"""What a grade says about losing, in words."""

from selfplay.grading import SEAT_NAMES, Grade, Grader


def lines_text(grade: Grade, seat: int) -> str:
    """Lines lost, of all that there are."""
    return "/".join(f"{count}" if count < 10**7 else f"{count:.1e}" for count in grade.lines[seat])


def never_loses(grade: Grade, grader: Grader) -> bool:
    """Whether no line is lost in the seats in which perfect play does not lose."""
    return not any(grade.can_lose(seat) for seat in range(2) if grader.can_hold(seat))


def seats_verdict(name: str, grade: Grade, grader: Grader) -> str:
    """Whether the player of that name can lose, in a sentence or two."""
    held = [seat for seat in range(2) if grader.can_hold(seat)]
    losing = [seat for seat in held if grade.can_lose(seat)]
    if losing:
        counts = " and ".join(f"{lines_text(grade, seat)} moving {SEAT_NAMES[seat]}" for seat in losing)
        return f"{name} can lose: of all lines tried it loses {counts}."
    total = sum(grade.lines[seat].total for seat in held)
    if len(held) == 2:
        first, second = (grade.lines[seat].total for seat in held)
        return f"{name} cannot lose: all {total} lines tried, {first} moving first and {second} moving second."
    seat, other = SEAT_NAMES[held[0]], SEAT_NAMES[1 - held[0]]
    return (
        f"{name} cannot lose moving {seat}: all {total} lines tried. "
        f"Moving {other}, every player loses against perfect play."
    )
