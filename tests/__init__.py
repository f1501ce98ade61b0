"""The tests. They and the processes that they start write bytecode, even if the environment asks for none."""

import os
import sys

# Every process would otherwise compile all sources again, and every pytest worker all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
