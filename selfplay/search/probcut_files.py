"""The parameters of ProbCut and their files, which lie beside the weights that they were fitted to.

game: othello
agent_sha256: d2f4...               of agent.safetensors
positions: 3000                     number of positions that they were fitted to
phases: [20, 28, 36, 44, 52]        numbers of stones with which the second and later phases begin
checks:
- {deep: 3, shallow: 1, slope: [...], intercept: [...], sigma: [...]}     a number for each phase
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic_core import core_schema as cs

from selfplay.errors import InvalidFileError
from selfplay.input_files import FileFormat
from selfplay.search.crew import new_crew
from selfplay.search.probcut import Probing
from selfplay.search.probcut_fit import Check
from selfplay.search.stack import make_stack
from selfplay.settings.evaluation import NUMBER, PHASES

DEPTH = cs.int_schema(ge=1, le=60)
NUMBERS = cs.list_schema(NUMBER, min_length=1)
PROBCUT = FileFormat(
    "a file of ProbCut parameters",
    cs.typed_dict_schema(
        {
            "game": cs.typed_dict_field(cs.str_schema()),
            "agent_sha256": cs.typed_dict_field(cs.str_schema()),
            "positions": cs.typed_dict_field(cs.int_schema(ge=1)),
            "phases": cs.typed_dict_field(PHASES),
            "checks": cs.typed_dict_field(
                cs.list_schema(
                    cs.typed_dict_schema(
                        {
                            "deep": cs.typed_dict_field(DEPTH),
                            "shallow": cs.typed_dict_field(DEPTH),
                            "slope": cs.typed_dict_field(cs.list_schema(cs.float_schema(gt=0, allow_inf_nan=False))),
                            "intercept": cs.typed_dict_field(NUMBERS),
                            "sigma": cs.typed_dict_field(cs.list_schema(cs.float_schema(ge=0, allow_inf_nan=False))),
                        },
                        extra_behavior="forbid",
                    ),
                    min_length=1,
                )
            ),
        },
        extra_behavior="forbid",
    ),
)


class ProbCut(NamedTuple):
    """How a search cuts."""

    parameters: "ProbCutParameters"
    threshold: float
    """From how many standard deviations on: the lower, the faster and the less exact. Must be above 0."""

    def probing(self, is_repeatable: bool) -> Probing:
        """What compiled searches need."""
        return self.parameters.probing(self.threshold, is_repeatable)


class ProbCutParameters(NamedTuple):
    """How shallow searches with one evaluation predict deep ones."""

    game: str
    agent_sha256: str
    """Of the file of the weights."""
    positions: int
    """Number of positions that they were fitted to."""
    phases: tuple[int, ...]
    """The numbers of stones on the board with which the second and later phases begin."""
    checks: tuple[Check, ...]

    def probing(self, threshold: float, is_repeatable: bool) -> Probing:
        """What compiled searches need to cut from `threshold` standard deviations on."""
        deepest = max(check.deep for check in self.checks)
        shallow = np.zeros(deepest + 1, dtype=np.int64)
        slopes, intercepts, margins = np.zeros((3, len(self.phases) + 1, deepest + 1))
        for deep, depth, slope, intercept, sigma in self.checks:
            shallow[deep], slopes[:, deep], intercepts[:, deep] = depth, slope, intercept
            margins[:, deep] = threshold * np.array(sigma)
        starts, stack = np.array(self.phases, dtype=np.int64), make_stack(int(shallow.max()))
        return Probing(is_repeatable, starts, shallow, slopes, intercepts, margins, stack, new_crew(1))


def read_probcut(path: Path) -> ProbCutParameters:
    """Read the parameters in the file at `path`. Raises InvalidFileError."""
    content = PROBCUT.read_yaml(path)
    checks = tuple(
        Check(each["deep"], each["shallow"], tuple(each["slope"]), tuple(each["intercept"]), tuple(each["sigma"]))
        for each in content["checks"]
    )
    phases = tuple(content["phases"])
    if phases != tuple(sorted(set(phases))):
        raise InvalidFileError(path, "phases must be ascending numbers of stones")
    for check in checks:
        if not check.shallow < check.deep:
            raise InvalidFileError(path, f"a check has deep={check.deep} and shallow={check.shallow}, not less")
        if {len(check.slope), len(check.intercept), len(check.sigma)} != {len(phases) + 1}:
            raise InvalidFileError(
                path, f"the check with deep={check.deep} needs {len(phases) + 1} numbers of each kind"
            )
    return ProbCutParameters(content["game"], content["agent_sha256"], content["positions"], phases, checks)


def probcut_text(parameters: ProbCutParameters) -> str:
    """The text of a file with `parameters`; reading it back gives them to four decimal places."""
    game, agent_sha256, positions, phases, checks = parameters
    lines = [f"game: {game}", f'agent_sha256: "{agent_sha256}"', f"positions: {positions}", f"phases: {list(phases)}"]
    lines.append("checks:")
    for check in checks:
        kinds = (("slope", check.slope), ("intercept", check.intercept), ("sigma", check.sigma))
        numbers = ", ".join(f"{name}: [{', '.join(f'{number:.4f}' for number in kind)}]" for name, kind in kinds)
        lines.append(f"- {{deep: {check.deep}, shallow: {check.shallow}, {numbers}}}")
    return "\n".join(lines) + "\n"
