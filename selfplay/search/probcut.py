"""ProbCut: cutting positions off if a shallow search predicts the result of the deep one.

The value v of a deep search is predicted from the value s of a shallower search of the same position as

    v = slope * s + intercept + an error with standard deviation sigma,

fitted for pairs of depths and phases of the match (Buro, "ProbCut: an effective selective extension of the alpha-beta
algorithm", 1995; "Experiments with Multi-ProbCut and a new high-quality evaluation function", 1997). If the prediction
is above beta by `threshold` standard deviations, the position gets the value beta. If it is below alpha by as much, the
position gets the value alpha. The results of a search are then no longer exact. The shallow search cuts in the same
way.

The fitted numbers are in a file beside the weights that they were fitted to:

    game: othello
    agent_sha256: d2f4...               of agent.safetensors
    positions: 3000                     number of positions that they were fitted to
    phases: [20, 28, 36, 44, 52]        numbers of stones with which the second and later phases begin
    checks:
    - {deep: 3, shallow: 1, slope: [...], intercept: [...], sigma: [...]}     a number for each phase
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, with_config

from selfplay.checks import require
from selfplay.compute.compilation import part_of_compiled
from selfplay.errors import InvalidFileError
from selfplay.files import CHECKED, FileFormat
from selfplay.games.rules import Position
from selfplay.search.evaluation import CompiledValue
from selfplay.search.feature_evaluation import PHASE_STARTS, phase_at
from selfplay.search.negamax_memory import NegamaxSearch


class Probing(NamedTuple):
    """What compiled searches need to cut, for P phases and positions with at most D plies left to search."""

    phase_starts: NDArray[np.int64]
    """int64[P - 1]: the numbers of stones with which phases 2 to P begin."""
    shallow: NDArray[np.int64]
    """int64[D + 1]: the depth of the shallow search; 0 where there are no cuts."""
    slopes: NDArray[np.float64]
    """float64[P, D + 1]"""
    intercepts: NDArray[np.float64]
    """float64[P, D + 1]"""
    margins: NDArray[np.float64]
    """float64[P, D + 1]: threshold * sigma."""


@cache
def compile_probe(unfinished_value: CompiledValue) -> Callable[..., Any]:
    """The probe of `negamax_of`; `search.probing` is a `Probing`."""

    @part_of_compiled
    def probe(
        position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch
    ) -> tuple[int, float, bool]:
        probing = search.probing
        if left >= len(probing.shallow) or probing.shallow[left] == 0 or (alpha == -np.inf and beta == np.inf):
            return 0, 0.0, False
        phase = phase_at(position, probing.phase_starts)
        slope, intercept = probing.slopes[phase, left], probing.intercepts[phase, left]
        margin, depth = probing.margins[phase, left], probing.shallow[left]
        # One search only, on the side on which a cut is more likely.
        if unfinished_value(position, search.parameters.unfinished) >= (alpha + beta) / 2:
            return depth, (beta + margin - intercept) / slope, True  # the deep value is predicted to be beta + margin
        return depth, (alpha - margin - intercept) / slope, False

    return probe


SMALLEST_DEPTH = 3
"""The smallest depth of a search that a shallower one may replace."""
LEAST_SLOPE = 0.1
"""If a fitted line is less steep, the shallow search is a bad predictor, and a line with slope 1 is used instead."""


Depth = Annotated[int, Field(ge=1, le=60)]


@with_config(CHECKED)
@dataclass(frozen=True)
class Check:
    """The prediction of a deep search by a shallow one, in each of P phases of the match: see `probcut`."""

    deep: Depth
    shallow: Depth
    slope: tuple[Annotated[float, Field(gt=0)], ...]
    intercept: tuple[float, ...]
    sigma: tuple[Annotated[float, Field(ge=0)], ...]


def shallow_depth(deep: int) -> int:
    """The depth of the search that predicts one to depth `deep`: about half, and even if `deep` is even.

    Values of odd and even depths differ systematically, because one player has the last move.
    """
    half = deep // 2
    return half if (deep - half) % 2 == 0 else half - 1


def fit_check(values: Mapping[int, NDArray[np.float64]], phases: NDArray[np.int64], deep: int) -> Check:
    """Fit the prediction of the search to depth `deep` by least squares.

    Args:
        values: float64[N] by depth: the values of N positions.
        phases: int64[N]: the phase of each position; every phase from 0 to the last has positions.
    """
    shallow = shallow_depth(deep)
    one, other = values[shallow], values[deep]
    lines = [_line(one[phases == phase], other[phases == phase]) for phase in range(int(phases.max()) + 1)]
    slopes, intercepts, sigmas = zip(*lines, strict=True)
    return Check(deep, shallow, slopes, intercepts, sigmas)


def _line(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float, float]:
    """The slope and the intercept of the line of `other` over `one`, and the standard deviation around it."""
    spread = float(one.var())
    slope = float(np.mean((one - one.mean()) * (other - other.mean()))) / spread if spread > 0 else 1.0
    slope = slope if slope >= LEAST_SLOPE else 1.0
    intercept = float(other.mean() - slope * one.mean())
    return slope, intercept, float((other - slope * one - intercept).std())


@with_config(CHECKED)
@dataclass(frozen=True)
class ProbCutParameters:
    """How shallow searches with one evaluation predict deep ones."""

    game: str
    agent_sha256: str
    """Of the file of the weights."""
    positions: Annotated[int, Field(ge=1)]
    """Number of positions that they were fitted to."""
    phases: tuple[Annotated[int, Field(ge=PHASE_STARTS[0], le=PHASE_STARTS[-1])], ...]
    """The numbers of stones on the board with which the second and later phases begin."""
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]

    def probing(self, threshold: float) -> Probing:
        """How a search cuts from `threshold` standard deviations on. A lower threshold is faster and less exact.

        Raises SettingError unless the threshold is above 0.
        """
        require("probcut", threshold, threshold > 0, "a number of standard deviations above 0")
        deepest = max(check.deep for check in self.checks)
        shallow = np.zeros(deepest + 1, dtype=np.int64)
        slopes, intercepts, margins = np.zeros((3, len(self.phases) + 1, deepest + 1))
        for check in self.checks:
            shallow[check.deep], margins[:, check.deep] = check.shallow, threshold * np.array(check.sigma)
            slopes[:, check.deep], intercepts[:, check.deep] = check.slope, check.intercept
        return Probing(np.array(self.phases, dtype=np.int64), shallow, slopes, intercepts, margins)


PROBCUT = FileFormat("a file of ProbCut parameters", ProbCutParameters)


def read_probcut(path: Path) -> ProbCutParameters:
    """Read the parameters in the file at `path`. Raises InvalidFileError."""
    parameters = PROBCUT.read_yaml(path)
    phases = parameters.phases
    if phases != tuple(sorted(set(phases))):
        raise InvalidFileError(path, "phases must be ascending numbers of stones")
    for check in parameters.checks:
        if not check.shallow < check.deep:
            raise InvalidFileError(path, f"a check has deep={check.deep} and shallow={check.shallow}, not less")
        if {len(check.slope), len(check.intercept), len(check.sigma)} != {len(phases) + 1}:
            raise InvalidFileError(
                path, f"the check with deep={check.deep} needs {len(phases) + 1} numbers of each kind"
            )
    return parameters


def probcut_text(parameters: ProbCutParameters) -> str:
    """The text of a file with `parameters`; reading it back gives them to four decimal places."""
    lines = [f"game: {parameters.game}", f'agent_sha256: "{parameters.agent_sha256}"']
    lines += [f"positions: {parameters.positions}", f"phases: {list(parameters.phases)}", "checks:"]
    for check in parameters.checks:
        kinds = (("slope", check.slope), ("intercept", check.intercept), ("sigma", check.sigma))
        numbers = ", ".join(f"{name}: [{', '.join(f'{number:.4f}' for number in kind)}]" for name, kind in kinds)
        lines.append(f"- {{deep: {check.deep}, shallow: {check.shallow}, {numbers}}}")
    return "\n".join(lines) + "\n"
