"""Ways of learning: what is learned from matches, and how. `tabular` has those of small games."""

from inspect import isclass

from selfplay.errors import SettingError, shortened
from selfplay.learners.learner import Learner as Learner
from selfplay.registry import Registry


def _check_class(name: str, found: object) -> None:
    """Raise SettingError unless this is a class of learners."""
    if not (isclass(found) and issubclass(found, Learner)):
        raise SettingError(f"learner {shortened(name)!r} is not a subclass of selfplay.Learner")
    try:
        found.check_class()
    except SettingError as error:
        raise SettingError(f"learner {shortened(name)!r}: {error}") from error


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
    check=_check_class,
)
"""The classes of learners by name."""
