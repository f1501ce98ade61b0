"""The library in somebody's process: importing and calling it changes nothing there, and the process ends as it would
without it.
"""

import signal
import sys
from pathlib import Path

import pytest

from tests.support.runs import interruptible

HOST = """
import atexit, gc, importlib, logging, multiprocessing, os, pkgutil, random, signal, sys, threading, warnings
from importlib.util import find_spec

registered, tuned = [], []
register = atexit.register
atexit.register = lambda function, *given, **named: registered.append(function) or register(function, *given, **named)
sys.addaudithook(lambda event, given: event == "ctypes.dlsym" and given[1] == "mallopt" and tuned.append(event))

# What third-party libraries change while they are imported is their own.
for name in ("torch", "gymnasium", "pettingzoo.utils", "open_spiel.python.algorithms.mcts"):
    if find_spec(name.partition(".")[0]):
        importlib.import_module(name)
import numpy as np
import torch

# That of a notebook that is not installed.
os.environ["MPLBACKEND"] = "none"


def state():
    logger, cudnn = logging.getLogger("selfplay"), torch.backends.cudnn
    return {
        "hooks": (sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook, sys.gettrace()),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "exit handlers": [function for function in registered if str(function.__module__).startswith("selfplay")],
        "garbage collection": (gc.get_threshold(), gc.isenabled(), len(gc.callbacks)),
        "allocation": tuned[:],
        "threads": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "torch": (torch.get_default_dtype(), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled()),
        "GPU": (cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32),
        "generators": (torch.get_rng_state().numpy().tobytes(), str(np.random.get_state()), random.getstate()),
        "numpy": (np.geterr(), str(np.get_printoptions())),
        "logging": (logging.root.level, logging.root.handlers[:], logger.level, logger.handlers[:]),
        "errors of logging": (logging.raiseExceptions, logging.root.manager.disable),
        "warnings": warnings.filters[:],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "imports": (sys.path[:], sys.meta_path[:], sys.path_hooks[:]),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval()),
        "processes": multiprocessing.get_start_method(allow_none=True),
    }


def compare(what):
    global before
    earlier, before = before, state()
    for name in [name for name in before if before[name] != earlier[name]]:
        print(what, "changes", name)


torch.set_num_threads(3)
before = state()

import selfplay

for module in pkgutil.walk_packages(selfplay.__path__, "selfplay."):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        # An optional package may be missing.
        assert not (error.name or "selfplay").startswith("selfplay"), error
    compare(module.name)

learner = {"epochs": 1, "steps_per_epoch": 5, "batch_size": 64, "gate": 0.5, "gate_matches": 10}
run = selfplay.learn("tictactoe", levels=2, matches=200, learner=learner, run_dir="run")
compare("learn")
selfplay.match("level:1", "random", run_dir="run", matches=10)
compare("match")
selfplay.load_level("run", 1)
compare("load_level")
run.player(), run.grade(), run.losses()
compare("a learned run")
selfplay.compare_levels(selfplay.settings_of_run("run"))
compare("compare_levels")

print("compared", flush=True)
atexit.register(print, "the host's exit handler", flush=True)
file = open("written", "w")
file.write("what was buffered")
os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.slow
def test_importing_and_calling_the_library_changes_nothing_in_the_process_nor_how_it_ends(tmp_path: Path) -> None:
    with interruptible([sys.executable, "-c", HOST], cwd=tmp_path) as process:
        output, error = process.communicate(timeout=300)
    assert output == "compared\nthe host's exit handler\n", error
    assert error.endswith("KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT
    assert (tmp_path / "written").read_text() == "what was buffered"
