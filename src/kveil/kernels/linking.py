"""How functions that only loops call are compiled: once each, and without machine code of their own.

Numba makes machine code of every function, then optimizes it and makes it once more inside every function that calls
it, and so on upwards; and it compiles a function anew for every width of the integers it is called with, and for
constants. Here such a function is translated once, with all integers as int64, and only the loop that Python calls is
optimized, with everything it needs linked in. Numba documents how a compiler's steps are replaced, but not what these
replace, so `jit` uses this with versions of Numba that it was tested with, and the usual way with others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class LinkedLibrary(JITCodeLibrary):
    """Code that waits to be linked into the code of a caller: not optimized, and no machine code."""

    def _optimize_final_module(self) -> None:
        """Leave it to the caller."""

    def _finalize_final_module(self) -> None:
        """Make it ready to be linked, not to be run."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class LinkedLowering(NativeLowering):
    """Numba's step from typed statements to LLVM's code, into a library that is only linked."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and let callers find its library; the library stands for the address it has not."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.flags.no_compile = True
        super().run_pass(state)  # type: ignore[no-untyped-call]
        state.library.finalize()
        lowered = state["cr"]
        state.targetctx.insert_user_function(state.library, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=state.library)
        return True


class LinkedCompiler(CompilerBase):
    """Numba's compiler with that step in place of its own."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        steps.passes = [(LinkedLowering if step is NativeLowering else step, why) for step, why in steps.passes]
        steps.finalize()
        return [steps]


class LinkedFunction(CPUDispatcher):
    """A function for loops alone, compiled for one type of integers."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Answer a caller that asks what calling the function with such types means: integers are widened."""
        return super().get_call_template(tuple(_widened(each) for each in args), kws)

    def add_overload(self, compiled: Any) -> None:
        """Keep what was compiled where loops find it, and Python does not."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        raise TypeError(f"Only loops call {self.py_func.__name__}; call it inside a function that Numba compiles.")


def _widened(given: Any) -> Any:
    """Return the type to compile for: no constants, and signed integers of 64 bits."""
    kind = types.unliteral(given)  # type: ignore[no-untyped-call]
    return types.int64 if kind in types.signed_domain else kind


def linked(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that only loops call, with some of Numba's options."""
    given = {"nopython": True, "boundscheck": None, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        return LinkedFunction(py_func=function, targetoptions=given, pipeline_class=LinkedCompiler)

    return decorate
