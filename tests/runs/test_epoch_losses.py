"""epoch_loss.csv is read back, and broken files are rejected."""

from pathlib import Path

import pytest

from selfplay.runs.epoch_losses import HEADER, read_epoch_losses
from selfplay.training.fitting import EpochLoss
from tests.support.rejections import assert_file_rejected


def test_losses_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "epoch_loss.csv"
    path.write_text(f"{HEADER}\n1,0.5,0.25,True\n2,0.4,0.3,False\n")
    assert read_epoch_losses(path) == [EpochLoss(1, 0.5, 0.25, True), EpochLoss(2, 0.4, 0.3, False)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("epoch,loss\n1,2\n", "first line"),
        (f"{HEADER}\n", "no rows"),
        (f"{HEADER}\n1,0.5,0.25,Tr", "cut off"),
        (f"{HEADER}\n1,0.5,0.25\n", "row 1"),
        (f"{HEADER}\n1,0.5,0.25,yes\n", "row 1"),
        (f"{HEADER}\n1,0.5,0.25,True\n3,0.5,0.25,False\n", "row 2"),
        (f"{HEADER}\n1,inf,0.25,True\n", "epoch 1"),
        (f"{HEADER}\n1,0.5,-0.25,True\n", "epoch 1"),
    ],
)
def test_broken_loss_files_are_rejected(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "epoch_loss.csv"
    path.write_text(text)
    with assert_file_rejected(path, reason):
        read_epoch_losses(path)
