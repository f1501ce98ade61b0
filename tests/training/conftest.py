"""Fixtures of the tests of training."""

import pytest

from tests.support.datasets_in_parts import all_rows, in_parts


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return in_parts(tmp_path_factory.mktemp("run") / "dataset.parquet", all_rows())
