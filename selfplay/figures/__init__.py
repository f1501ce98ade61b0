"""Every figure, one file for each subject."""

import os
import sys
from contextlib import suppress


def _import_matplotlib() -> None:
    """Import Matplotlib, also where MPLBACKEND names a backend that is not installed, such as that of a notebook.

    Matplotlib then refuses to be imported, although figures are written to files without a backend. The environment is
    as before afterwards, and a backend that exists is chosen as Matplotlib does.
    """
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = backend


if "matplotlib" not in sys.modules:
    _import_matplotlib()
