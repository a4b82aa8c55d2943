"""How functions that only loops call are compiled: once each, and without machine code of their own.

Numba makes machine code of every function, then optimizes it and makes it once more inside every function that calls
it, and so on upwards; and it compiles a function anew for every width of the integers it is called with, and for
constants. Here such a function is translated once, with all integers as int64, and only the loop that Python calls is
optimized, with everything it needs linked in. Numba documents how a compiler's steps are replaced, but not what these
replace, so `jit` uses this with versions of Numba that it was tested with, and the usual way with others.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, ClassVar

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.extending import models, register_model


class KnownFunction(types.Function):
    """A function of Numba's own that remembers what calls of it mean.

    Numba asks that of `+` and of every index at each place, again in every round of a function's typing, and once more
    when it writes the code; each time it tries everything that it could mean: a quarter of all its work on a function.
    """

    def __init__(self, function: types.Function) -> None:
        super().__init__(function.templates)
        self.calls: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return what a call with such types means."""
        call = tuple(args), tuple(kws.items())
        if call not in self.calls:
            plain = context.plain if isinstance(context, KnownCalls) else context
            self.calls[call] = super().get_call_type(plain, args, kws)
        return self.calls[call]


register_model(KnownFunction)(models.OpaqueModel)


class KnownCalls:
    """What Numba knows of types, with functions that remember."""

    functions: ClassVar[dict[int, tuple[types.Function, KnownFunction]]] = {}

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def resolve_value_type(self, value: Any) -> Any:
        """Return the type of a constant, which may be a function."""
        kind = self.plain.resolve_value_type(value)
        if type(kind) is not types.Function:
            return kind
        if id(kind) not in self.functions:
            self.functions[id(kind)] = kind, KnownFunction(kind)
        return self.functions[id(kind)][1]

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return what a call means."""
        if isinstance(function, BuiltinFunctionType):
            function = self.resolve_value_type(function)
        if isinstance(function, KnownFunction):
            return function.get_call_type(self.plain, args, kws)
        return self.plain.resolve_function_type(function, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """Return what an assignment to an item means."""
        return self.resolve_value_type(operator.setitem).get_call_type(self.plain, (target, index, value), {})


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class KnownCallsInference(NopythonTypeInference):
    """Numba's typing of a function, with functions that remember."""

    _name = "known_calls_inference"

    def run_pass(self, state: Any) -> bool:
        """Find the types of all variables."""
        context = state.typingctx
        state.typingctx = KnownCalls(context)
        try:
            return bool(super().run_pass(state))  # type: ignore[no-untyped-call]
        finally:
            state.typingctx = context


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class KnownCallsLowering(NativeLowering):
    """Numba's step from typed statements to LLVM's code, with functions that remember."""

    _name = "known_calls_lowering"

    def run_pass(self, state: Any) -> bool:
        """Write a function's code."""
        context = state.targetctx.typing_context
        state.targetctx.typing_context = KnownCalls(context)
        try:
            return bool(super().run_pass(state))  # type: ignore[no-untyped-call]
        finally:
            state.targetctx.typing_context = context


class LinkedLibrary(JITCodeLibrary):
    """Code that waits to be linked into the code of a caller: not optimized, and no machine code."""

    def _optimize_final_module(self) -> None:
        """Leave it to the caller."""

    def _finalize_final_module(self) -> None:
        """Make it ready to be linked, not to be run."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class LinkedLowering(KnownCallsLowering):
    """The same step into a library that is only linked."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and let callers find its library; the library stands for the address it has not."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.flags.no_compile = True
        super().run_pass(state)
        state.library.finalize()
        lowered = state["cr"]
        state.targetctx.insert_user_function(state.library, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=state.library)
        return True


class DoorCompiler(CompilerBase):
    """Numba's compiler with those steps in place of its own."""

    LOWERING: ClassVar[type[KnownCallsLowering]] = KnownCallsLowering

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        instead = {NopythonTypeInference: KnownCallsInference, NativeLowering: self.LOWERING}
        steps.passes = [(instead.get(step, step), why) for step, why in steps.passes]
        steps.finalize()
        return [steps]


class LinkedCompiler(DoorCompiler):
    """The same for what is only linked."""

    LOWERING = LinkedLowering


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


def link_code(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that only loops call, with some of Numba's options."""
    given = {"nopython": True, "boundscheck": None, **options}

    def decorate(function: Callable[..., Any]) -> Any:
        return LinkedFunction(py_func=function, targetoptions=given, pipeline_class=LinkedCompiler)

    return decorate
