"""What the code of a function does, without what changes with comments: line numbers, docstrings."""

import dis
from functools import cache
from inspect import CO_OPTIMIZED
from types import CodeType
from typing import Any, NamedTuple

HAS_CONSTANT = frozenset(dis.hasconst)
EXTENDED_ARG, IMPORT_NAME, IMPORT_FROM, LOAD_GLOBAL = (
    dis.opmap[name] for name in ("EXTENDED_ARG", "IMPORT_NAME", "IMPORT_FROM", "LOAD_GLOBAL")
)
HAS_DOCSTRING = 0x4000000
"""The flag of code with a docstring, since Python 3.13."""
NOT_IN_BODY = ("__doc__", "__firstlineno__", "__static_attributes__")
"""What the body of a class sets that does not say what the class does."""


class Instructions(NamedTuple):
    """What code does, and the names that it and the functions in it use."""

    head: tuple[object, ...]
    steps: tuple[object, ...]
    """The instructions, without the places of constants."""
    constants: tuple[Any, ...]
    """In the order in which they are loaded. A docstring is not."""
    names: frozenset[str]
    """All names of globals and attributes."""
    global_names: tuple[str, ...]
    imported: tuple[str, ...]
    """The modules that functions import, as they name them, and what they import from them, as MODULE.NAME."""


@cache
def instructions_of(code: CodeType) -> Instructions:
    """The instructions of code that has been compiled by Python."""
    is_function = bool(code.co_flags & CO_OPTIMIZED)
    steps, constants, loaded, imported = _of_function(code) if is_function else _of_body(code)
    inner = [instructions_of(constant) for constant in constants if isinstance(constant, CodeType)]
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~HAS_DOCSTRING
    attributes = tuple(name for name in code.co_names if name not in NOT_IN_BODY)
    return Instructions(
        (*counts, code.co_varnames, code.co_freevars, code.co_cellvars, attributes, code.co_exceptiontable),
        steps,
        constants,
        frozenset(code.co_names).union(*(one.names for one in inner)),
        tuple(sorted(loaded.union(*(one.global_names for one in inner)))),
        tuple(sorted(imported.union(*(one.imported for one in inner)))),
    )


Found = tuple[tuple[object, ...], tuple[Any, ...], set[str], set[str]]
"""Steps, constants, names of globals and of modules."""


def _of_function(code: CodeType) -> Found:
    steps, argument, begin, module = bytearray(code.co_code), 0, 0, ""
    constants, loaded, imported = list[Any](), set[str](), set[str]()
    for place in range(0, len(steps), 2):
        operation, argument = steps[place], argument << 8 | steps[place + 1]
        if operation == EXTENDED_ARG:
            continue
        if operation in HAS_CONSTANT:
            constants.append(code.co_consts[argument])
            steps[begin + 1 : place + 2 : 2] = bytes((place - begin) // 2 + 1)
        elif operation == LOAD_GLOBAL:
            loaded.add(code.co_names[argument >> 1])
        elif operation == IMPORT_NAME:
            imported.add(module := code.co_names[argument])
        elif operation == IMPORT_FROM:
            imported.add(f"{module}.{code.co_names[argument]}".lstrip("."))
        argument, begin = 0, place + 2
    return (bytes(steps),), tuple(constants), loaded, imported


def _of_body(code: CodeType) -> Found:
    """Those of the body of a class."""
    every = list(dis.get_instructions(code))
    kept = [step for step, following in zip(every, [*every[1:], None], strict=True) if not _sets_other(step, following)]
    constants = tuple(step.argval for step in kept if step.opcode in HAS_CONSTANT)
    steps = tuple((step.opname, _argument(step)) for step in kept)
    loaded = {step.argval for step in kept if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
    imported, module = set[str](), ""
    for step in kept:
        if step.opcode == IMPORT_NAME:
            imported.add(module := step.argval)
        elif step.opcode == IMPORT_FROM:
            imported.add(f"{module}.{step.argval}".lstrip("."))
    return steps, constants, loaded, imported


def _argument(step: dis.Instruction) -> object:
    if step.opcode in HAS_CONSTANT:
        return None
    return step.argval if step.opcode in dis.hasname else step.arg


def _sets_other(step: dis.Instruction, following: dis.Instruction | None) -> bool:
    """Whether an instruction, or the next one with what this one loads, sets a name of NOT_IN_BODY."""
    return any(
        one is not None and one.opname == "STORE_NAME" and one.argval in NOT_IN_BODY for one in (step, following)
    )
