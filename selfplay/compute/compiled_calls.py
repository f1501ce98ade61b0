"""Calls of compiled functions by their address, so that the code that calls them is compiled without them."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, NamedTuple
from weakref import finalize

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import noted_as_compiled
from selfplay.compute.compilation import Reference, borrowed, compiled, kind_of
from selfplay.compute.compile_cache import cache_folder, keep_on_disk
from selfplay.compute.compiled_word_type import in_compiled_code

Kind = Any
"""A type of numba."""


class Compiled(NamedTuple):
    """A function that compiled code can call by its address."""

    address: int
    """Valid as long as `function` is there."""
    function: Any
    """numba's dispatcher, which keeps the machine code."""


def compiled_at(function: Callable[..., Any], result: Kind, *kinds: Kind) -> Compiled:
    """Compile a function for arguments of these types, cached on disk; what it gives becomes a `result`."""
    njit: Any = numba.njit
    options = {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    dispatcher = njit(**options)(noted_as_compiled(function))
    if cache_folder() is not None:
        keep_on_disk(dispatcher)
    dispatcher.compile(result(*kinds))
    (made,) = dispatcher.overloads.values()
    return Compiled(made.library.get_pointer_to_function(made.fndesc.llvm_func_name), dispatcher)


def calling(result: Kind, *kinds: Kind) -> Callable[..., Any]:
    """`call(address, *arguments)` for compiled code: calls what `compiled_at` has compiled for these types.

    Errors of the function are raised where it is called.
    """
    described = f"{result}({', '.join(map(str, kinds))})"

    def call(address: int, *arguments: Any) -> Any:
        raise NotImplementedError(f"only compiled code calls {described}")

    def typed(*given: Kind) -> Kind:
        return result

    names = ("address", *(f"argument_{i}" for i in range(len(kinds))))
    typed.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        pointer = builder.inttoptr(values[0], convention.get_function_type(result, kinds).as_pointer())
        given = zip(values[1:], signature.args[1:], kinds, strict=True)
        arguments = [context.cast(builder, value, its_kind, kind) for value, its_kind, kind in given]
        status, found = convention.call_function(builder, pointer, result, kinds, arguments)
        propagate: Any = cgutils.if_unlikely
        with propagate(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return found

    in_compiled_code(call, typed, emit)
    return call


def number_at(address: int, i: int) -> int:
    """The int64 in place i of an array of such at this address; only compiled code can read it."""
    raise NotImplementedError("only compiled code reads memory by its address")


def _emit_number_at(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    number = ir.IntType(64)
    place = context.cast(builder, values[1], signature.args[1], types.int64)
    return builder.load(builder.gep(builder.inttoptr(values[0], number.as_pointer()), [place]))


in_compiled_code(number_at, lambda address, i: types.int64, _emit_number_at)


# ---------------------------------------------------------------------- values in memory


def held(value: Any) -> NDArray[np.int64]:
    """Memory with a number, an array, or a tuple of such, which compiled code reads by `reading`."""
    context: Any = cpu_target.target_context
    size = context.get_abi_sizeof(context.get_value_type(kind_of(value)))
    memory = np.zeros(size // 8 + 1, dtype=np.int64)
    _write(memory.ctypes.data, value)
    finalize(memory, lambda kept: None, value)
    return memory


@compiled
def _write(address: int, value: Any) -> None:
    _store(address, borrowed(value))


def _store(address: int, value: Any) -> None:
    raise NotImplementedError("only compiled code writes memory by its address")


def _emit_store(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    builder.store(values[1], builder.inttoptr(values[0], values[1].type.as_pointer()))
    return context.get_dummy_value()


in_compiled_code(_store, lambda address, value: types.void, _emit_store)


def reading(kind: Kind) -> Callable[[int], Any]:
    """`read(address)` for compiled code: a value of this type that is `held` there; a named tuple as a `Reference`."""
    described, is_named = str(kind), isinstance(kind, types.BaseNamedTuple)

    def read(address: int) -> Any:
        raise NotImplementedError(f"only compiled code reads {described} by its address")

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = builder.inttoptr(values[0], context.get_value_type(kind).as_pointer())
        return pointer if is_named else builder.load(pointer)

    in_compiled_code(read, lambda address: Reference(kind) if is_named else kind, emit)
    return read
