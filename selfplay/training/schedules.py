"""Learning-rate schedules: functions of (peak, step, total_steps), with `step` in range(total_steps).

Those of torch.optim.lr_scheduler need an optimiser of torch.optim, whose import takes longer than training a small
network (docs/design_notes.md); a test compares the two.
"""

import math

WARM_UP_FRACTION = 0.3
INITIAL_DIVISOR = 25.0
FINAL_DIVISOR = 1e4


def constant(peak: float, step: int, total_steps: int) -> float:
    """`peak` at every step."""
    return peak


def one_cycle(peak: float, step: int, total_steps: int) -> float:
    """Rise from peak / 25 to `peak` in the first 30 % of the steps, then fall to peak / 250,000, each along half a
    cosine (Smith & Topin, "Super-convergence", 2018; torch.optim.lr_scheduler.OneCycleLR).
    """
    initial = peak / INITIAL_DIVISOR
    rising = WARM_UP_FRACTION * total_steps - 1
    if step <= rising:
        start, end, fraction = initial, peak, step / rising if rising > 0 else 1.0
    else:
        falling = total_steps - 1 - rising
        start, end, fraction = peak, initial / FINAL_DIVISOR, (step - rising) / falling
    return end + (start - end) / 2 * (1 + math.cos(math.pi * fraction))
