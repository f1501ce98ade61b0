"""Kernels that are optimized as a whole, each with all the functions that it calls.

numba optimizes every function and makes machine code of it, and then does both again, with all that it calls, in each
function that calls it. Of a rule or another part of compiled code nothing but the kernels' machine code is ever run. So
the code of a part waits here, as it was generated, until a kernel that calls it is optimized: with parts that call each
other in five levels this takes two thirds of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from llvmlite.binding import Linkage, ModuleRef
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler

PARTS = WeakValueDictionary[str, Any]()
"""The libraries of the parts by the names of their functions."""


class PartLibrary(JITCodeLibrary):
    """The code of a part, and the libraries of those that it calls.

    It is no machine code unless another function than a kernel is linked with it, such as one of numba's own.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.modules: list[ModuleRef] = []
        self.called: list[Any] = []

    def add_llvm_module(self, ll_module: ModuleRef) -> None:
        self.modules.append(ll_module)
        for function in ll_module.functions:
            if not function.is_declaration:
                PARTS[function.name] = self

    def add_linking_library(self, library: Any) -> None:
        self.called.append(library)

    def called_by_address(self) -> "list[PartLibrary]":
        """The other versions of a recursive function that it calls, which need not have been compiled before it."""
        places = [place.name for module in self.modules for place in module.global_variables]
        named = [name.removeprefix(RuntimeLinker.PREFIX) for name in places if name.startswith(RuntimeLinker.PREFIX)]
        return [PARTS[name] for name in named if name in PARTS]

    def finalize(self) -> None:
        for module in self.modules:
            super().add_llvm_module(module.clone())
        for library in self.called:
            super().add_linking_library(library)
        super().finalize()

    @property
    def codegen(self) -> "PartLibrary":
        return self

    def set_env(self, env_name: str, env: object) -> None:
        """Do nothing. numba sets the objects that the machine code uses here, and there is none."""

    def get_pointer_to_function(self, name: str) -> int:
        """0: Python cannot call a part."""
        return 0


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel, with that of all parts that it calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.parts: dict[PartLibrary, None] = {}
        self.enable_object_caching()

    def add_linking_library(self, library: Any) -> None:
        if not isinstance(library, PartLibrary):
            super().add_linking_library(library)
        elif library not in self.parts:
            self.parts[library] = None
            for called in (*library.called, *library.called_by_address()):
                self.add_linking_library(called)

    def finalize(self) -> None:
        modules = [module.clone() for part in self.parts for module in part.modules]
        for further in modules[1:]:
            modules[0].link_in(further)
        for joined in modules[:1]:
            by_address = any(part.called_by_address() for part in self.parts)
            for function in joined.functions:
                if not function.is_declaration:  # the second linkage leaves out what nothing calls
                    function.linkage = Linkage.weak_odr if by_address else Linkage.linkonce_odr
            self.add_llvm_module(joined)
        super().finalize()


class PartCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class KernelCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        with _garbage_kept():
            return super().compile_extra(func)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Collect no garbage: numba makes so many objects, nearly all to be kept, that this took a tenth of the time."""
    is_collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collected:
            gc.enable()
