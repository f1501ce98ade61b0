"""Pearson's chi-square test, without the two seconds that importing SciPy's takes in every process of the tests."""

import torch
from numpy.typing import ArrayLike


def p_value(counts: ArrayLike, expected: ArrayLike | None = None) -> float:
    """How likely counts are to differ from the expected ones, by default equal ones, as much as these or more."""
    found = torch.as_tensor(counts, dtype=torch.float64)
    wanted = found.mean() if expected is None else torch.as_tensor(expected, dtype=torch.float64)
    statistic = ((found - wanted) ** 2 / wanted).sum()
    return float(torch.special.gammaincc(torch.tensor((len(found) - 1) / 2, dtype=torch.float64), statistic / 2))
