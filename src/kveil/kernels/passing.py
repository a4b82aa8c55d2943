"""How loops hand layouts of arrays to each other: by their address.

Numba takes a named tuple apart wherever it is handed over, into seven numbers per array, and puts it together again
behind that: of all that it wrote for a loop with three or four layouts, half was that. Here a layout is a place in
memory that is filled where Python calls a loop, and only the members that a function uses are read from there, once.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, infer_getattr, models, register_model, unbox
from numba.np.numpy_support import as_dtype

WORD = ir.IntType(64)
_BY_ADDRESS: set[type] = set()


class LayoutType(types.Type):
    """The type of a layout: its class, and the types of its members.

    Its memory is a row of words of 64 bits: one for a number or for the address of another layout, and for an array its
    address, its number of items, its shape and its strides.
    """

    def __init__(self, layout: Any, members: tuple[Any, ...]) -> None:
        self.layout = layout
        self.members = members
        self.starts = [0]  # of each member, and the end
        for member in members:
            self.starts.append(self.starts[-1] + (2 + 2 * member.ndim if isinstance(member, types.Array) else 1))
        super().__init__(layout.__name__)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two of them the same; their name is the class's alone, since it is written very often."""
        return self.layout, self.members


@infer_getattr
class LayoutMember(AttributeTemplate):
    """Tells Numba of which type a member is."""

    key = LayoutType

    def generic_resolve(self, layout: Any, name: str) -> Any:  # type: ignore[override]
        """Return the type of a member, None where there is none of that name."""
        fields = layout.layout._fields
        return layout.members[fields.index(name)] if name in fields else None


@register_model(LayoutType)
class LayoutModel(models.PrimitiveModel):
    """A layout is the address of its words."""

    def __init__(self, manager: Any, kind: LayoutType) -> None:
        super().__init__(manager, kind, ir.PointerType(WORD))  # type: ignore[no-untyped-call]


@unbox(LayoutType)  # type: ignore[no-untyped-call]
def place_layout(kind: LayoutType, given: Any, call: Any) -> NativeValue:
    """Write a layout that Python hands over to where the loop finds it; it stands there until the loop returns."""
    builder = call.builder
    whole = call.unbox(types.NamedTuple(kind.members, kind.layout), given)  # type: ignore[no-untyped-call]
    place = cgutils.alloca_once(builder, WORD, size=kind.starts[-1])  # type: ignore[no-untyped-call]
    for number, (member, word) in enumerate(zip(kind.members, kind.starts[:-1], strict=True)):
        value = builder.extract_value(whole.value, number)
        for part in _parts(call.context, builder, member, value) if isinstance(member, types.Array) else [value]:
            builder.store(part, _word(builder, place, word, part.type))
            word += 1
    return NativeValue(place, is_error=whole.is_error, cleanup=whole.cleanup)  # type: ignore[no-untyped-call]


def _parts(context: Any, builder: Any, member: types.Array, array: Any) -> list[Any]:
    """Return what is kept of an array."""
    model = context.data_model_manager[member]
    single = [model.get(builder, array, name) for name in ("data", "nitems")]
    several = [model.get(builder, array, name) for name in ("shape", "strides")]
    return [*single, *(builder.extract_value(part, i) for part in several for i in range(member.ndim))]


def _word(builder: Any, place: Any, number: int, kind: Any) -> Any:
    """Return the address of a word in which something of a kind stands."""
    word = builder.gep(place, [ir.Constant(ir.IntType(32), number)], inbounds=True)
    return word if kind == WORD else builder.bitcast(word, ir.PointerType(kind))


@lower_getattr_generic(LayoutType)  # type: ignore[no-untyped-call]
def read_member(context: Any, builder: Any, kind: LayoutType, place: Any, name: str) -> Any:
    """Read a member, once in a function where the layout is one of its arguments, or a member of one."""
    known = vars(builder.function).setdefault("kveil_members", {})
    given = _argument(builder, place)
    if given is None and place not in known.values():
        return _read(context, builder, kind, place, name)
    at = (given or place).name, name
    if at not in known:
        with builder.goto_entry_block():
            known[at] = _read(context, builder, kind, given or place, name)
    return known[at]


def _argument(builder: Any, place: Any) -> Any:
    """Return the argument of a function that a place is, None where it is none; loops never let it be another one.

    Numba keeps arguments in variables of their name, and gives what is assigned to them later other ones.
    """
    if not isinstance(place, ir.instructions.LoadInstr):
        return place if isinstance(place, ir.Argument) else None
    wanted = f"arg.{place.operands[0].name}"
    return next((argument for argument in builder.function.args if argument.name == wanted), None)


def _read(context: Any, builder: Any, kind: LayoutType, place: Any, name: str) -> Any:
    """Read a member; an array without what counts references to it, since loops return none and count none."""
    number = kind.layout._fields.index(name)
    member, word = kind.members[number], kind.starts[number]
    if not isinstance(member, types.Array):
        return _load(builder, place, word, context.get_value_type(member))
    model = context.data_model_manager[member]
    whole = model.get_value_type()
    size = context.get_constant(types.intp, as_dtype(member.dtype).itemsize)
    address = _load(builder, place, word, whole.elements[model.get_field_position("data")])
    array = ir.Constant(whole, None)
    for own, value in (("data", address), ("nitems", _load(builder, place, word + 1, WORD)), ("itemsize", size)):
        array = model.set(builder, array, value, own)
    for own, begin in (("shape", word + 2), ("strides", word + 2 + member.ndim)):
        part = ir.Constant(ir.ArrayType(WORD, member.ndim), None)
        for i in range(member.ndim):
            part = builder.insert_value(part, _load(builder, place, begin + i, WORD), i)
        array = model.set(builder, array, part, own)
    return array


def _load(builder: Any, place: Any, number: int, kind: Any) -> Any:
    """Load what stands in a word; nobody writes there while a loop runs, so that it need not be loaded again."""
    loaded = builder.load(_word(builder, place, number, kind))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _type_of(layout: Any, context: Any) -> LayoutType:
    return LayoutType(type(layout), tuple(typeof_impl(member, context) for member in layout))


def by_address(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let the layouts that a function is annotated with be handed over by their address; return the function."""
    for layout in _layouts(inspect.get_annotations(function).values(), function.__globals__.get):
        typeof_impl.register(layout)(_type_of)
    return function


def _layouts(annotations: Any, find: Callable[[str], Any]) -> list[type]:
    """Return the layouts among annotations, and those that are members of them, as far as they are new."""
    new: list[type] = []
    for annotation in annotations:
        layout = find(annotation) if isinstance(annotation, str) else annotation
        layout = getattr(layout, "__forward_arg__", layout)
        layout = find(layout) if isinstance(layout, str) else layout
        if not (isinstance(layout, type) and issubclass(layout, tuple) and hasattr(layout, "_fields")):
            continue
        if layout not in _BY_ADDRESS:
            _BY_ADDRESS.add(layout)
            members = layout.__annotations__.values()
            new += [layout, *_layouts(members, vars(sys.modules[layout.__module__]).get)]
    return new
