"""Against whom a level plays in self-play."""

import pytest
import torch

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.learners.pool import drawn_opponents

MATCHES = 20_000
KEY = stream_key(0, 0, Activity.GENERATION)


@pytest.mark.parametrize("level", [1, 2, 5])
def test_half_of_the_matches_are_against_the_level_itself_and_the_earlier_ones_share_the_rest(level: int) -> None:
    drawn = drawn_opponents(KEY, torch.arange(MATCHES), level)
    shares = torch.bincount(drawn, minlength=level + 1) / MATCHES
    assert shares.tolist() == pytest.approx([*[0.5 / level] * level, 0.5], abs=5 * (0.25 / MATCHES) ** 0.5)
    # The opponent of a match depends on its number only.
    assert torch.equal(drawn_opponents(KEY, torch.arange(100, 200), level), drawn[100:200])
