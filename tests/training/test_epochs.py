"""epoch_loss.csv is read back, and broken files are rejected."""

from pathlib import Path

import pytest

from selfplay.training.epochs import Epoch, read_epochs, write_epochs
from tests.support.rejections import assert_file_rejected

HEADER = "epoch,training_loss,validation_loss,is_champion"


@pytest.mark.parametrize(
    ("header", "epoch", "judged_by", "unit"),
    [
        (HEADER, Epoch(1, {"training_loss": 0.5, "validation_loss": 0.25}), "validation_loss", "mean squared error"),
        (
            f"{HEADER},validation_policy_loss,decay_loss",
            Epoch(
                1,
                {"training_loss": 0.5, "validation_loss": 0.25},
                True,
                {"validation_policy_loss": 1.0, "decay_loss": 2.0},
            ),
            "validation_loss",
            "squared error and cross-entropy",
        ),
        (
            "epoch,mean_squared_error,is_champion",
            Epoch(1, {"mean_squared_error": 0.5}),
            "mean_squared_error",
            "mean squared error",
        ),
        (
            "epoch,share_of_mistakes_left,share_of_mistakes_met,is_champion",
            Epoch(1, {"share_of_mistakes_left": 0.0, "share_of_mistakes_met": 0.5}),
            "share_of_mistakes_met",
            "share of the positions",
        ),
        ("epoch,cross_entropy,is_champion", Epoch(1, {"cross_entropy": 0.5}), "cross_entropy", "cross entropy"),
    ],
)
def test_what_each_learner_measures_is_read_back(
    tmp_path: Path, header: str, epoch: Epoch, judged_by: str, unit: str
) -> None:
    path, second = tmp_path / "epoch_loss.csv", epoch._replace(epoch=2, is_champion=False)
    write_epochs(path, [epoch, second])
    assert path.read_text().splitlines()[0] == header
    assert read_epochs(path) == [epoch, second]
    assert (epoch.judged_by, epoch.judged, epoch.unit) == (judged_by, epoch.measured[judged_by], unit)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("epoch,loss\n1,2\n", "first line"),
        ("epoch,is_champion\n1,True\n", "first line"),
        (f"{HEADER}\n", "no rows"),
        (f"{HEADER}\n1,0.5,0.25,Tr", "cut off"),
        (f"{HEADER}\n1,0.5,0.25\n", "row 1"),
        (f"{HEADER}\n1,0.5,0.25,True,0.5\n", "row 1"),
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
        read_epochs(path)
