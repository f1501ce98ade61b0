"""Values of actions as text."""


def exact_text(value: float) -> str:
    """A value of an exact solver: +3, 0, -2."""
    return f"{round(value):+d}" if round(value) else "0"


def points_text(value: float) -> str:
    """A number of points: +5.3, 0.0, -2.1."""
    return _without_minus_zero(f"{value:+.1f}", "0.0")


def estimate_text(value: float) -> str:
    """An estimate: +0.25, +0.00, -1.00."""
    return _without_minus_zero(f"{value:+.2f}", "+0.00")


def _without_minus_zero(text: str, zero: str) -> str:
    return zero if float(text) == 0 else text
