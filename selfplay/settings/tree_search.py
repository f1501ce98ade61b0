"""Tree search in self-play, and the loss of a policy: sections `mcts` and `loss` of the settings of a run."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require, require_count, require_number
from selfplay.settings.choices import SEARCH_RULES, require_choice

MOST_SIMULATIONS = 1_000_000


@dataclass
class TreeSearchSettings:
    """How levels search in the matches of their datasets, with targets=search (conf/mcts/)."""

    rule: str = "puct"
    """How simulations choose actions: puct, gumbel or uct."""
    constants: dict[str, float] = field(default_factory=dict)
    """Constants of the rule that differ from their defaults, such as the noise at the root."""
    simulations: int = 32
    """Simulations for each action."""
    proves: bool = True
    """Whether exact values are proved (MCTS-solver)."""
    reuse: bool = False
    """Whether the search of a ply continues the part of the last ply's tree below the action played; not for gumbel."""
    temperature: float = 1.0
    """In the first plies, actions are drawn with probability proportional to policy ** (1 / temperature); 0: the action
    that the search concludes."""
    temperature_plies: int = 8
    """Number of plies with this temperature; later ones have 0."""
    opening_plies: int = 0
    """Each match begins with 0 to this number of random plies. Positions in which they are played give no rows."""
    value_mix: float = 0.0
    """Share of the value that the search finds in the target; the rest is the outcome of the match."""

    def __post_init__(self) -> None:
        require_choice("mcts.rule", self.rule, SEARCH_RULES)
        valid = 1 <= self.simulations <= MOST_SIMULATIONS
        require("mcts.simulations", self.simulations, valid, f"1 to {MOST_SIMULATIONS:,}")
        require_number("mcts.temperature", self.temperature, 0)
        require_count("mcts.temperature_plies", self.temperature_plies, 0)
        require_count("mcts.opening_plies", self.opening_plies, 0)
        require("mcts.value_mix", self.value_mix, 0 <= self.value_mix <= 1, "between 0 and 1")


@dataclass
class LossSettings:
    """The weights of the two parts of the loss, where datasets have policies."""

    value: float = 1.0
    """Weight of the squared error of the value."""
    policy: float = 1.0
    """Weight of the cross-entropy of the policy."""

    def __post_init__(self) -> None:
        require_number("loss.value", self.value, 0)
        require_number("loss.policy", self.policy, 0)
