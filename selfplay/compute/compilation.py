"""Compilation by numba, with a cache on disk that is invalidated by every change of the package's sources.

`borrowed`, `prefetch` and `leading_zeros` are operations that numba does not offer."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import RULES, RuleFunction, all_equal, bit_count, named_by_closure
from selfplay.compute.compile_cache import CheckedCache, cache_folder
from selfplay.compute.compiled_word_type import WordType  # noqa: F401  (numba has to know it)

Words = NDArray[Any]
"""One word of each of B positions. Compiled code reads and writes them in [B] records
(`selfplay.compute.compiled_words`); elsewhere they are int64[B], as stored."""

_registered: set[Callable[..., Any]] = {bit_count, all_equal}
"""The rules that compiled code can call. These are defined for each kind of word by
`selfplay.compute.compiled_word_type`."""


def register_rules() -> None:
    """Make all functions marked as rules so far callable from compiled code."""
    for function in RULES:
        if function not in _registered:
            _register(function)
            _registered.add(function)


def part_of_compiled(function: RuleFunction) -> RuleFunction:
    """Make `function` callable from compiled code."""
    _register(named_by_closure(function))
    return function


def recursive_part(function: RuleFunction) -> RuleFunction:
    """Make a function that may call itself callable from compiled code.

    The function and the parts that it calls borrow all arrays (see `borrowed`), and cannot make new ones. Code in which
    it calls itself with arguments of other types is not cached on disk.
    """
    njit: Any = numba.njit
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return cast(RuleFunction, njit(**options)(named_by_closure(function)))


def _register(function: Callable[..., Any]) -> None:
    """Without the wrapper for callers in C, which is never used and takes a sixth of the time of compiling."""
    register_jitable(no_cfunc_wrapper=True)(function)


def compiled(function: RuleFunction) -> RuleFunction:
    """Compile `function` in nopython mode, cached on disk; it releases the GIL."""
    register_rules()
    njit: Any = numba.njit
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True)(named_by_closure(function))
    # A function that was typed at a prompt has no file by which its cache could be invalidated.
    if Path(inspect.getfile(function)).exists() and cache_folder() is not None:
        dispatcher._cache = CheckedCache(dispatcher.py_func)
    return cast(RuleFunction, dispatcher)


WORD, BYTE_POINTER = ir.IntType(32), ir.IntType(8).as_pointer()
ANY_CACHE, READ, DATA = 3, 0, 1
"""Arguments of the prefetch instruction: load the data into all caches; it will be read; it is not code."""

Borrowed = TypeVar("Borrowed")

Typed = tuple[Any, Callable[..., Any]]


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate the code that makes a value of this type, in which every array has lost its reference count."""
    if isinstance(kind, types.Array):
        counted, array = context.make_array(kind)(context, builder, value), context.make_array(kind)(context, builder)
        for name in ("data", "nitems", "itemsize", "shape", "strides"):
            setattr(array, name, getattr(counted, name))
        array.meminfo = context.get_constant_null(types.MemInfoPointer(kind.dtype))
        array.parent = context.get_constant_null(types.pyobject)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind
        members = zip(kinds, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_uncounted(context, builder, *member) for member in members])
    return impl_ret_borrowed(context, builder, kind, value)


def _borrowed(typing_context: Any, value: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _uncounted(context, builder, value, arguments[0])

    return value(value), generate


def _prefetch(typing_context: Any, array: Any, index: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = context.make_array(array)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, array, loaded, [arguments[1]], wraparound=False)
        kind = ir.FunctionType(ir.VoidType(), [BYTE_POINTER, WORD, WORD, WORD])
        instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        constants = [ir.Constant(WORD, number) for number in (READ, ANY_CACHE, DATA)]
        builder.call(instruction, [builder.bitcast(pointer, BYTE_POINTER), *constants])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _leading_zeros(typing_context: Any, word: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


_borrow: Any = intrinsic(_borrowed)


def borrowed(value: Borrowed) -> Borrowed:
    """An array without its reference count, or a tuple that holds such arrays, numbers and tuples.

    numba changes the reference count of an array, atomically, at nearly every call with the array as an argument. If a
    search calls a function every few nanoseconds, this takes up to half of its time.

    Another reference must keep the array alive: an argument of the compiled function does, but numba frees a local
    array after its last use by name. Outside compiled code the value itself is returned.
    """
    return value


@overload(borrowed, strict=False)
def _compiled_borrowed(value: Any) -> Callable[..., Any]:
    return lambda value: _borrow(value)


prefetch: Any = intrinsic(_prefetch)
"""(one-dimensional array, index from 0): start to load an entry into the cache, without waiting for it."""

leading_zeros: Any = intrinsic(_leading_zeros)
"""(uint64, not 0) to the number of zero bits above its highest set bit."""
