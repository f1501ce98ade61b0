"""Ways of learning: what is learned from matches, and how. `tabular` has those of small games."""

from selfplay.learners.learner import Learner as Learner
from selfplay.registry import Registry

LEARNERS: Registry[type[Learner]] = Registry(
    "learner",
    {
        "values": "selfplay.learners.values:Values",
        "policy": "selfplay.learners.policy:Policy",
        "td": "selfplay.learners.temporal_differences:TemporalDifferences",
        "expert": "selfplay.learners.expert:Expert",
        "records": "selfplay.learners.records:Records",
    },
    group="selfplay.learners",
    attributes=("train", "player"),
)
"""The classes of learners by name."""
