"""The registries from which settings choose by name, and to which other packages can add.

They are defined here, below the packages that use them, so that settings can reject an unknown name.
"""

from typing import Any

from selfplay.registry import Registry

TARGET_RULES: Registry[Any] = Registry(
    "target rule",
    {
        name: f"selfplay.dataset.target_rules:{name}"
        for name in ("full", "watkins", "best_response", "rootstrap", "search")
    },
    group="selfplay.targets",
    arguments=("played",),
)
"""The targets of a level's rows: see `selfplay.dataset.target_rules`."""

OPTIMIZERS: Registry[Any] = Registry(
    "optimizer",
    {
        "adam": "selfplay.training.batch_training:BatchTraining",
        "sgd": "selfplay.training.row_by_row:RowByRowTraining",
    },
    group="selfplay.optimizers",
    attributes=("runs_on_cpu_only", "run_epoch"),
)
"""Classes that train networks: see `selfplay.training.trainer.Trainer`."""

SCHEDULES: Registry[Any] = Registry(
    "schedule",
    {"constant": "selfplay.training.trainer:constant", "one_cycle": "selfplay.training.trainer:one_cycle"},
    group="selfplay.schedules",
    arguments=("peak", "step", "total_steps"),
)
"""(peak, step, total_steps) to the learning rate of a step: see `selfplay.training.trainer`."""
