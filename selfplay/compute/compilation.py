"""Compilation by numba, with a cache on disk in which a function is found by everything that it depends on.

`borrowed`, `by_reference`, `prefetch` and `leading_zeros` are operations that numba does not offer."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import models, register_model
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import RuleFunction, callable_from_compiled, noted_as_compiled
from selfplay.compute.compile_cache import cache_folder, is_kept, keep_on_disk
from selfplay.compute.compiled_word_type import define, in_compiled_code
from selfplay.errors import SettingError

Words = NDArray[Any]
"""One word of each of B positions. Compiled code reads and writes them in [B] records
(`selfplay.compute.compiled_words`); elsewhere they are int64[B], as stored."""


IS_UNCOMPILED = bool(cast(Any, numba.config).DISABLE_JIT)
"""Whether NUMBA_DISABLE_JIT=1 is set: the same functions run as plain Python, so that a debugger stops in them."""

FEW_POSITIONS = 1000
"""How many positions `compiled_for_many` processes first in plain Python, which takes 0.1 to 0.9 ms for each;
compiling a function takes 0.2 to 1 s."""


def part_of_compiled(function: RuleFunction) -> RuleFunction:
    """Make `function` callable from compiled code."""
    return callable_from_compiled(function)


def recursive_part(function: RuleFunction) -> RuleFunction:
    """Make a function that may call itself callable from compiled code.

    The function and the parts that it calls borrow all arrays (see `borrowed`), and cannot make new ones. Code in which
    it calls itself with arguments of other types is not cached on disk.
    """
    njit: Any = numba.njit
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return cast(RuleFunction, njit(**options)(noted_as_compiled(function)))


def compiled(function: RuleFunction) -> RuleFunction:
    """Compile `function` in nopython mode, cached on disk; it releases the GIL. See `IS_UNCOMPILED`."""
    if IS_UNCOMPILED:
        return cast(RuleFunction, uncompiled(function))
    njit: Any = numba.njit
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True)(noted_as_compiled(function))
    if cache_folder() is not None:
        keep_on_disk(dispatcher)
    return cast(RuleFunction, dispatcher)


def kind_of(value: Any) -> Any:
    """The type of a value in compiled code."""
    typeof: Any = numba.typeof
    return typeof(value)


def compile_for(function: Any, *arguments: Any) -> None:
    """Compile a function made by `compiled` for arguments of these types, or load it from disk."""
    if not IS_UNCOMPILED:
        function.compile(tuple(map(kind_of, arguments)))


def is_compiled_for(function: Any, *arguments: Any) -> bool:
    """Whether a function made by `compiled` need not be compiled for arguments of these types."""
    kinds = tuple(map(kind_of, arguments))
    return IS_UNCOMPILED or kinds in function.overloads or is_kept(function, kinds)


def compiled_for_many(function: RuleFunction) -> RuleFunction:
    """Compile a function of [B] positions, its first argument, once it has been called with many of them.

    The first FEW_POSITIONS positions are processed by the same function in plain Python, which takes less time than to
    compile it, and finds the same; so are all in a block of `in_plain_python`.
    """
    plain, few = uncompiled(function), FEW_POSITIONS
    if IS_UNCOMPILED:
        return cast(RuleFunction, plain)
    fast = compiled(function)

    @wraps(function)
    def run(positions: Words, *arguments: Any) -> Any:
        nonlocal few
        if is_in_plain_python():
            return plain(positions, *arguments)
        few -= len(positions)
        return (fast if few < 0 else plain)(positions, *arguments)

    return cast(RuleFunction, run)


def is_in_plain_python() -> bool:
    """Whether the code runs in a block of `in_plain_python`."""
    return _is_in_plain_python.get()


_is_in_plain_python = ContextVar("is_in_plain_python", default=False)


@contextmanager
def in_plain_python() -> Iterator[None]:
    """Run the functions of `compiled_for_many` in plain Python during the block, however many positions they have had.

    So nothing waits for the compiler, which compiles one function of a process at a time.
    """
    before = _is_in_plain_python.set(True)
    try:
        yield
    finally:
        _is_in_plain_python.reset(before)


def uncompiled(function: Any) -> Any:
    """The function as Python runs it: int64s wrap around, and records have their fields as attributes, as compiled."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*map(_with_attributes, arguments))

    run.py_func = function  # type: ignore[attr-defined]
    return run


def _with_attributes(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return value.view(np.recarray)
    return value._make(map(_with_attributes, value)) if hasattr(value, "_make") else value


def require_compiled(what: str) -> None:
    """Raise SettingError if compiled code is switched off and `what`, in the plural, would take too long without it."""
    if IS_UNCOMPILED:
        raise SettingError(f"NUMBA_DISABLE_JIT is set: {what} run only with compiled code; unset it")


WORD, BYTE_POINTER = ir.IntType(32), ir.IntType(8).as_pointer()
ANY_CACHE, READ, DATA = 3, 0, 1
"""Arguments of the prefetch instruction: load the data into all caches; it will be read; it is not code."""

Borrowed = TypeVar("Borrowed")


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


def borrowed(value: Borrowed) -> Borrowed:
    """An array without its reference count, or a tuple that holds such arrays, numbers and tuples.

    numba changes the reference count of an array, atomically, at nearly every call with the array as an argument. If a
    search calls a function every few nanoseconds, this takes up to half of its time.

    Another reference must keep the array alive: an argument of the compiled function does, but numba frees a local
    array after its last use by name. Outside compiled code the value itself is returned.
    """
    return value


def _emit_borrowed(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _uncounted(context, builder, signature.args[0], arguments[0])


in_compiled_code(borrowed, lambda value: value, _emit_borrowed)


# ---------------------------------------------------------------------- references


class Reference(types.Type):
    """A named tuple that the calling function keeps."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Reference({kind})")

    def type_of(self, field: str) -> Any:
        """Of an attribute; a named tuple in the tuple is a reference too."""
        kind = self.kind[self.kind.fields.index(field)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, reference: Reference) -> None:
        pointer = manager.lookup(reference.kind).get_value_type().as_pointer()
        super().__init__(manager, reference, pointer)


def _type_of_attribute(self: Any, reference: Reference, field: str) -> Any:
    return reference.type_of(field) if field in reference.kind.fields else None


def _read_field(context: Any, builder: Any, reference: Reference, pointer: Any, field: str) -> Any:
    place = cgutils.gep_inbounds(builder, pointer, 0, reference.kind.fields.index(field))
    return place if isinstance(reference.type_of(field), Reference) else builder.load(place)


define(register_model(Reference), _ReferenceModel)
define(
    infer_getattr,
    type("ReferenceAttributes", (AttributeTemplate,), {"key": Reference, "generic_resolve": _type_of_attribute}),
)
define(lower_getattr_generic(Reference), _read_field)


def by_reference(value: Borrowed) -> Borrowed:
    """A named tuple as one word for the functions that are called with it, which can read its attributes only.

    A tuple is copied at each call, and an array in it has seven words. The arrays are `borrowed`. The calling function
    must use the tuple until they have returned. Outside compiled code the value itself is returned.
    """
    return value


def _emit_reference(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return cgutils.alloca_once_value(builder, _emit_borrowed(context, builder, signature, arguments))


in_compiled_code(by_reference, lambda value: Reference(value), _emit_reference)


# ---------------------------------------------------------------------- instructions


def prefetch(array: NDArray[Any], index: int) -> None:
    """Start to load an entry of a one-dimensional array into the cache, without waiting for it. `index`: from 0.

    Does nothing outside compiled code.
    """


def _emit_prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array, place = signature.args[0], context.cast(builder, arguments[1], signature.args[1], types.intp)
    loaded = context.make_array(array)(context, builder, arguments[0])
    pointer = cgutils.get_item_pointer(context, builder, array, loaded, [place], wraparound=False)
    kind = ir.FunctionType(ir.VoidType(), [BYTE_POINTER, WORD, WORD, WORD])
    instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    constants = [ir.Constant(WORD, number) for number in (READ, ANY_CACHE, DATA)]
    builder.call(instruction, [builder.bitcast(pointer, BYTE_POINTER), *constants])
    return context.get_dummy_value()


def leading_zeros(word: Any) -> Any:
    """The number of zero bits above the highest set bit of a uint64 that is not 0."""
    return 64 - int(word).bit_length()


def _emit_leading_zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    word = context.cast(builder, arguments[0], signature.args[0], types.uint64)
    return builder.ctlz(word, ir.Constant(ir.IntType(1), 1))


in_compiled_code(prefetch, lambda array, index: types.void, _emit_prefetch)
in_compiled_code(leading_zeros, lambda word: types.uint64, _emit_leading_zeros)
