"""What objects are made of: values that say what they do."""

import hashlib
import re
import sys
from contextlib import suppress
from ctypes import CDLL
from dataclasses import Field
from functools import cached_property, partial
from inspect import Signature
from pathlib import PurePath
from types import MethodType
from typing import Any

import numpy as np

from selfplay.code_identity.packages import digest_of_file, digest_of_module, package_of

PARTS: tuple[tuple[Any, Any], ...] = (
    (property, lambda value: (value.fget, value.fset, value.fdel)),
    ((classmethod, staticmethod), lambda value: value.__func__),
    (cached_property, lambda value: value.func),
    (MethodType, lambda value: (value.__self__, value.__func__)),
    (partial, lambda value: (value.func, value.args, value.keywords)),
    (Field, lambda value: (value.name, value.default, value.default_factory, value.metadata)),
    (np.dtype, repr),
    (np.generic, lambda value: (repr(value.dtype), value.tobytes())),
    (np.ndarray, lambda value: _parts_of_array(value)),
    (np.vectorize, lambda value: (value.pyfunc, value.otypes, value.excluded, value.signature)),
    (CDLL, lambda value: digest_of_file(value._name) or value._name),
    (re.Pattern, lambda value: (value.pattern, value.flags)),
    (Signature, str),
    # A run may be moved with its code.
    (PurePath, lambda value: value.name),
)
"""By type, the values that say what an object does."""

HOLDERS = ("builtins", "collections", "functools", "itertools", "operator", "types", "ctypes", "numpy", "torch")
"""Packages with classes whose objects hold functions and data of others. The state of objects of other packages can be
different in each process, such as that of a console or of another program."""
GENERATORS = ("Generator", "RandomState", "BitGenerator", "SeedSequence")
"""Names of classes of random generators, whose state can also be another one in each process."""


def holds_code(kind: type) -> bool:
    """Whether what objects of an installed class are made of counts as code."""
    return package_of(kind.__module__) in HOLDERS and not any(base.__name__ in GENERATORS for base in kind.__mro__)


def made_of(value: Any) -> object:
    """What an object of such a class is made of: its own compiled code, or what `pickle` asks it for.

    Raises an error of any type if it cannot say it.
    """
    if isinstance(code := getattr(value, "code", None), str):  # TorchScript
        return code
    if (libraries := getattr(value, "_objects", None)) is not None:  # a function of a library
        return value.__name__, [library for library in libraries.values() if isinstance(library, CDLL)]
    return value.__reduce_ex__(2), digest_of_module(str(getattr(value, "__module__", "")))


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """The values of an array of another library; of a tensor of a type that numpy does not have, its
    type, shape and bytes."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        with suppress(TypeError):
            return np.asarray(value)
        held = value.contiguous().reshape(-1).view(sys.modules["torch"].uint8)
        return np.concatenate([np.frombuffer(f"{value.dtype} {tuple(value.shape)} ".encode(), np.uint8), held])
    return np.asarray(value)


def _parts_of_array(array: np.ndarray[Any, Any]) -> tuple[object, ...]:
    values: object = array.tolist() if array.dtype.hasobject else hashlib.sha256(array.tobytes()).hexdigest()
    return repr(array.dtype), array.shape, array.flags.c_contiguous, array.flags.f_contiguous, values
