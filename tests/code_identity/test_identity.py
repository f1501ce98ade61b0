"""What functions and classes do, as a digest: what makes a difference, and what does not."""

import _ctypes
import ctypes
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from selfplay.code_identity import identity_of, outside_identity
from selfplay.code_identity.packages import describe_in_full, installed_version
from selfplay.compute import layer_steps
from selfplay.compute.bit_algebra import rule
from selfplay.compute.compile_cache import compiled_identity
from selfplay.compute.words import WordInt


def module_of(source, name="outside", **known):
    module = ModuleType(name)
    vars(module).update(known)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return module


def digest_of(source, **known):
    return outside_identity(module_of(source, **known).found).digest


NO_DIFFERENCE = {
    "comments and lines": (
        "def found(x):\n    return x + 1",
        "# One.\n\n\ndef found(x):\n    # Two.\n    return x + 1",
    ),
    "a docstring": ("def found(x):\n    return None", 'def found(x):\n    """New."""\n    return None'),
    "another docstring": (
        'class found:\n    """Old."""\n\n    def act(self):\n        """Old."""',
        'class found:\n    """New."""\n\n    def act(self):\n        """New."""',
    ),
    "a docstring of a class in a function": (
        "def found():\n    class A:\n        B = 3\n    return A",
        'def found():\n    class A:\n        """New."""\n\n        B = 3\n    return A',
    ),
    "the order of a set": ("A = {'a', 'b', 'c'}\ndef found(): return A", "A = {'c', 'b', 'a'}\ndef found(): return A"),
    "something that is not used": (
        "A = 1\ndef found(): return 2",
        "A = 3\ndef other(): return A\ndef found(): return 2",
    ),
    "the place of a file": ("def found(): return __file__", "__file__ = 'elsewhere'\ndef found(): return __file__"),
    **{
        f"the state of {name}": (
            f"{imports}\nA = {made}\ndef found(): return A",
            f"{imports}\nA = {made}\n{change}\ndef found(): return A",
        )
        for name, imports, made, change in (
            ("a generator", "import numpy as np", "np.random.default_rng(1)", "A.random()"),
            ("a generator of Python", "import random", "random.Random(1)", "A.random()"),
            ("a file", "import io", "io.StringIO()", "A.write('a')"),
        )
    },
}

DIFFERENCES = {
    "a name": ("def found(p): return p.cap", "def found(p): return p.low"),
    "a constant": ("def found(x): return x + 1", "def found(x): return x + 2"),
    "the type of a constant": ("def found(x): return x + 1", "def found(x): return x + 1.0"),
    "a set in the code": ("def found(x): return x in {1, 2}", "def found(x): return x in {1, 3}"),
    "a default argument": ("def found(x, y=1): return y", "def found(x, y=2): return y"),
    "a keyword argument": ("def found(*, y=1): return y", "def found(*, y=2): return y"),
    "a global": ("A = 1\ndef found(): return A", "A = 2\ndef found(): return A"),
    "a dictionary": ("A = {1: [2]}\ndef found(): return A", "A = {1: [3]}\ndef found(): return A"),
    "an array": (
        "import numpy as np\nA = np.arange(3)\ndef found(): return A",
        "import numpy as np\nA = np.arange(4)\ndef found(): return A",
    ),
    "a helper": ("def a(): return 1\ndef found(): return a()", "def a(): return 2\ndef found(): return a()"),
    "a function inside": (
        "def found(): return [x + 1 for x in range(2)], lambda y: y * 2",
        "def found(): return [x + 1 for x in range(2)], lambda y: y * 3",
    ),
    "a helper of a function inside": (
        "def a(): return 1\ndef found(): return lambda: a()",
        "def a(): return 2\ndef found(): return lambda: a()",
    ),
    "what is enclosed": (
        "def make(a):\n    return lambda: a\nfound = make((1, 2))",
        "def make(a):\n    return lambda: a\nfound = make((1, 3))",
    ),
    "which of two functions": (
        "def make(a):\n    return lambda: a\none, two = make(1), make(2)\ndef found(): return one() - two()",
        "def make(a):\n    return lambda: a\none, two = make(2), make(1)\ndef found(): return one() - two()",
    ),
    "a decorated function": (
        "from functools import cache\n@cache\ndef a(): return 1\ndef found(): return a()",
        "from functools import cache\n@cache\ndef a(): return 2\ndef found(): return a()",
    ),
    "a method": ("class found:\n def a(self): return 1", "class found:\n def a(self): return 2"),
    "a property": (
        "class found:\n @property\n def a(self): return 1",
        "class found:\n @property\n def a(self): return 2",
    ),
    "an attribute of a base class": (
        "class A:\n b = 1\nclass found(A): pass",
        "class A:\n b = 2\nclass found(A): pass",
    ),
    "a default of a dataclass": (
        "from dataclasses import *\n@dataclass\nclass found:\n a: list = field(default_factory=lambda: [1])",
        "from dataclasses import *\n@dataclass\nclass found:\n a: list = field(default_factory=lambda: [2])",
    ),
    "an object": (
        "class A:\n def __init__(self, a): self.a = a\nB = A(1)\ndef found(): return B",
        "class A:\n def __init__(self, a): self.a = a\nB = A(2)\ndef found(): return B",
    ),
    **{
        f"a function inside {name}": (
            f"{imports}\ndef a(*x): return 1\nB = {made}\ndef found(): return B",
            f"{imports}\ndef a(*x): return 2\nB = {made}\ndef found(): return B",
        )
        for name, imports, made in (
            ("a namespace", "from types import SimpleNamespace", "SimpleNamespace(a=a)"),
            ("a queue", "from collections import deque", "deque([a])"),
            ("a user's dictionary", "from collections import UserDict", "UserDict(a=a)"),
            ("a dictionary that makes its values", "from collections import defaultdict", "defaultdict(a)"),
            ("a cache", "from functools import lru_cache, partial", "lru_cache(partial(a, 0))"),
            ("a method with arguments", "from functools import partialmethod", "partialmethod(a, 0)"),
            ("a method by the type of its argument", "import functools", "functools.singledispatchmethod(a)"),
            ("an iterator", "", "map(a, [0])"),
            ("a function of arrays", "import numpy as np", "np.vectorize(a)"),
            (
                "a network",
                "import torch\nclass C(torch.nn.Module):\n def forward(*x): return a()",
                "torch.nn.Sequential(C())",
            ),
        )
    },
    "a weight of a network": (
        "import torch\nA = torch.nn.Linear(1, 1)\ntorch.nn.init.zeros_(A.weight), torch.nn.init.zeros_(A.bias)\n"
        "def found(): return A",
        "import torch\nA = torch.nn.Linear(1, 1)\ntorch.nn.init.ones_(A.weight), torch.nn.init.zeros_(A.bias)\n"
        "def found(): return A",
    ),
    "a tensor that numpy has no type for": (
        "import torch\nA = torch.zeros(9000, dtype=torch.bfloat16)\nA[4000] = 5\ndef found(): return A",
        "import torch\nA = torch.zeros(9000, dtype=torch.bfloat16)\nA[4000] = 6\ndef found(): return A",
    ),
    "a member of an enumeration": (
        "from enum import Enum\nclass A(Enum):\n B = 1\ndef found(): return A.B",
        "from enum import Enum\nclass A(Enum):\n B = 2\ndef found(): return A.B",
    ),
    "a function that calls itself": (
        "def found(x): return x and found(x - 1)",
        "def found(x): return x and found(x - 2)",
    ),
    "functions that call each other": (
        "def a(x): return x and found(x - 1)\ndef found(x): return x and a(x - 1)",
        "def a(x): return x and found(x - 2)\ndef found(x): return x and a(x - 1)",
    ),
}


@pytest.mark.parametrize("what", NO_DIFFERENCE)
def test_what_makes_no_difference(what):
    first, second = map(digest_of, NO_DIFFERENCE[what])
    assert first == second


@pytest.mark.parametrize("what", DIFFERENCES)
def test_what_makes_a_difference(what):
    first, second = map(digest_of, DIFFERENCES[what])
    assert first != second


def test_of_a_module_only_what_is_used_counts():
    def digest(text, module):
        return digest_of(f"def found(): return {text}", a=module)

    one, other = module_of("B = C = 1", "a"), module_of("B = 1\nC = 2", "a")
    assert digest("a.B", one) == digest("a.B", other)
    assert digest("a.C", one) != digest("a.C", other)


def test_modules_that_a_function_imports_count(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    digests = []
    for number in (1, 2):
        (tmp_path / "imported_in_function.py").write_text(f"A = {number}\n")
        digests.append(digest_of("def found():\n    from imported_in_function import A\n    return A"))
        monkeypatch.delitem(sys.modules, "imported_in_function")
    assert digests[0] != digests[1]


@pytest.mark.parametrize("statement", ["from . import helper", "from own_package import helper"])
def test_modules_that_a_function_imports_from_a_package_count(statement, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "own_package").mkdir()
    digests = []
    for number in (1, 2):
        (tmp_path / "own_package" / "helper.py").write_text(f"A = {number}\n")
        found = digest_of(f"def found():\n    {statement}\n    return helper.A", __package__="own_package")
        digests.append(found)
        for name in ("own_package.helper", "own_package"):
            monkeypatch.delitem(sys.modules, name)
    assert digests[0] != digests[1]


def test_files_of_machine_code_count(tmp_path, monkeypatch):
    library = tmp_path / "library.so"
    module = ModuleType("own_machine_code")
    module.__file__ = str(tmp_path / f"own_machine_code{EXTENSION_SUFFIXES[0]}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    digests = []
    for end in (b"", b" "):
        library.unlink(missing_ok=True)
        # What follows the code in the file makes no difference when it is loaded.
        library.write_bytes(Path(_ctypes.__file__).read_bytes() + end)
        function = ctypes.CDLL(str(library)).PyInit__ctypes
        Path(module.__file__).write_bytes(b"code" + end)
        digests.append([digest_of("def found(): return a", a=value) for value in (function, module)])
    assert all(before != after for before, after in zip(*digests, strict=True))


def test_a_name_that_is_not_defined_yet_is_looked_up_again():
    module = module_of("def found(): return A")
    before = outside_identity(module.found)
    assert before.unknown == ("A",)
    module.A = 1
    assert outside_identity(module.found).unknown == ()
    assert outside_identity(module.found).digest != before.digest


def test_this_package_counts_for_compiled_code_but_not_for_parts_from_outside():
    found = module_of("from selfplay.compute.random_numbers import below\ndef found(): return below(1, 2)").found
    assert [one.__name__ for one in outside_identity(found).described] == ["found"]
    assert {"found", "below"} <= {one.__name__ for one in identity_of(found, lambda thing: "all").described}


SETS = """
from collections import deque
from random import Random
from types import SimpleNamespace
def one(): return {"a", "b", "c"}
def two(): return one() | {"d", "e", "f"}
A = {one, two, "g", ("h", "i")}, SimpleNamespace(a=one), deque([two]), Random()
def found(): return A
"""
IN_ANOTHER_PROCESS = """
import sys
from selfplay.code_identity import outside_identity
exec(compile(sys.stdin.read(), "outside.py", "exec"))
print(outside_identity(found).digest)
"""


def test_every_process_finds_the_same_identity_whatever_is_described_first():
    module = module_of(SETS, "__main__")
    outside_identity(module.two)
    digests = {outside_identity(module.found).digest}
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
        digests.add(subprocess.check_output(command, env=environment, input=SETS, text=True).strip())
    assert len(digests) == 1


def made_with(constant):
    @rule
    def enclosing(x):
        return x & constant

    return enclosing


def test_constants_of_another_width_make_another_function():
    def digest(constant):
        return compiled_identity(made_with(constant)).digest

    assert digest(WordInt(5, 2)) == digest(WordInt(5, 2))
    assert len({digest(5), digest(WordInt(5, 2)), digest(WordInt(5, 3)), digest(np.int64(5))}) == 4
    assert len({digest(numba.int64), digest(numba.int32)}) == 2


def test_everything_is_known_of_the_compiled_functions_of_this_package():
    values = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("selfplay.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    assert layer_steps.run_steps in values
    assert {value.__name__: found for value in values if (found := compiled_identity(value.py_func).unknown)} == {}


def test_a_module_of_python_is_not_described_where_it_is_named():
    digest = digest_of("A = iter([1])\ndef found(): return A")
    describe_in_full("builtins")
    assert installed_version("builtins") is not None
    assert digest_of("A = iter([1])\ndef found(): return A") == digest


def test_what_the_compiler_may_know_from_elsewhere_is_unknown():
    @numba.extending.register_jitable
    def elsewhere(x):
        return x

    assert compiled_identity(made_with(elsewhere)).unknown == ("elsewhere",)
    assert compiled_identity(made_with(numba.njit(elsewhere))).unknown == ()
    assert compiled_identity(made_with(object())).unknown == ("object",)
