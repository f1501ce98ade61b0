"""Translates the rules of a game from their Python source to JavaScript.

A rule is a function of positions, words and numbers (`selfplay.compute.bit_algebra`). A position becomes an object of
its fields, a tuple an array. Words and numbers become BigInts: words without a sign, numbers as signed integers of 64
bits, each wrapped to its width where an operation can leave it. Comparisons give 1n or 0n. Numbers from closures and
modules are written as they are, and other rules that a rule calls are translated too, once for each kinds of arguments.

As in compiled code, what an operator gives is as wide as the wider of its operands, and a variable is as wide
everywhere as where it is widest.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from selfplay.compute.position_fields import Place
from selfplay.compute.positions import PositionClass
from selfplay.web.javascript_expressions import RuleSource
from selfplay.web.javascript_values import NUMBER, Kind, Value, joined_kind, kind_of_entries

PRELUDE = """\
const bitCount = (word) => {
  let count = 0;
  for (let rest = word; rest !== 0n; rest >>= 32n) {
    let half = Number(rest & 0xffffffffn);
    half -= (half >>> 1) & 0x55555555;
    half = (half & 0x33333333) + ((half >>> 2) & 0x33333333);
    count += (((half + (half >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }
  return BigInt(count);
};
const floorDivide = (a, b) => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
const lowest = (word) => bitCount((word & -word) - 1n);
const placeIn = (tuple, number) => {
  const place = Number(number) + (number < 0n ? tuple.length : 0);
  if (place < 0 || place >= tuple.length) {
    throw new RangeError("tuple index out of range");
  }
  return place;
};
const entryOf = (tuple, number) => tuple[placeIn(tuple, number)];
const replaced = (tuple, number, entry) => {
  const changed = tuple.slice();
  changed[placeIn(tuple, number)] = entry;
  return changed;
};
const areEqual = (one, other) => one.every((entry, place) => entry === other[place]);
"""


def javascript_of(
    rules: Mapping[str, tuple[Callable[..., Any], Sequence[Kind]]], position: PositionClass | None = None
) -> str:
    """A JavaScript module that exports functions of positions and BigInts.

    Args:
        rules: by name, a rule and the kinds of its arguments.
        position: the class of the positions that `packed` turns into BigInts, and `unpacked` into positions;
            `packedShown` turns positions into what their observations show, packed.

    Raises SettingError, with the line, for the first rule whose source cannot be read or has operations besides
    `KNOWN`.
    """
    translation = _Translation()
    exported = {name: translation.called(function, kinds).text for name, (function, kinds) in rules.items()}
    lines = [f"export const {name} = {function};" for name, function in exported.items()]
    tables = [f"const {name} = {entries};" for entries, name in translation.tables.items()]
    shown = translation.called(*rules["observed"]).kind if "observed" in rules else None
    return "\n".join([PRELUDE, *tables, *translation.functions, *lines, *_packing(position, shown), ""])


def _packing(position: PositionClass | None, shown: Any) -> list[str]:
    if position is None:
        return []
    fields = ", ".join(f"{place.name}: {_unpacked(place)}" for place in position.places)
    return [
        f"export const packed = {_packed(position)};",
        f"export const unpacked = (word) => ({{ {fields} }});",
        "export const packedShown = packed;"
        if shown is None
        else f"const packedObserved = {_packed(shown)};\n"
        "export const packedShown = (position) => packedObserved(observed(position));",
    ]


def _packed(position: PositionClass) -> str:
    bits = " | ".join(
        f"({place.name}{f'[{number}]' if place.is_several else ''} << {offset}n)"
        for place in position.places
        for number, offset in enumerate(place.offsets)
    )
    return f"({{ {', '.join(place.name for place in position.places)} }}) => {bits}"


def _unpacked(place: Place) -> str:
    values = [f"BigInt.asUintN({place.bits}, word >> {offset}n)" for offset in place.offsets]
    return f"[{', '.join(values)}]" if place.is_several else values[0]


class _Translation:
    """The functions translated so far, each after those that it calls, and the constant tuples that they read."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.tables: dict[str, str] = {}
        self._called: dict[Any, Value] = {}

    def called(self, function: Callable[..., Any], kinds: Sequence[Kind]) -> Value:
        """The name in JavaScript of a function of arguments of these kinds, which is translated the first time, and the
        kind of its result."""
        key = function, *kinds
        if key not in self._called:
            rule = _Rule(self, function, kinds)
            text, name = rule.text(), f"{function.__name__}_{len(self._called)}"
            self._called[key] = Value(name, NUMBER if rule.result is None else rule.result)
            self.functions.append(f"function {name}{text}")
        return self._called[key]


class _Rule(RuleSource):
    """One rule in JavaScript."""

    result: Kind | None = None
    """The kind of what it returns, as far as it is known."""

    def text(self) -> str:
        arguments = self.tree.args
        if len(self.parameters) != sum(map(len, (arguments.args, arguments.posonlyargs, arguments.kwonlyargs))):
            raise self.refused(self.tree)
        if arguments.vararg or arguments.kwarg or arguments.defaults:
            raise self.refused(self.tree)
        while True:
            kinds, result, body = self.kinds.copy(), self.result, self._block(self.tree.body, "  ")
            if (kinds, result) == (self.kinds, self.result):
                break
        variables = [f"  let {', '.join(f'${name}' for name in self.variables)};"] if self.variables else []
        widened = ((name, Value(f"${name}", kind).as_kind(self.kinds[name])) for name, kind in self.given.items())
        changed = [f"  ${name} = {text};" for name, text in widened if text != f"${name}"]
        head = f"({', '.join(f'${name}' for name in self.parameters)}) {{"
        return "\n".join([head, *variables, *changed, *body, "}"])

    def _block(self, statements: list[ast.stmt], indent: str) -> list[str]:
        return [indent + line for statement in statements for line in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Return(value=ast.expr() as returned):
                return [f"return {self._returned(node, self.value(returned))};"]
            case ast.Assign(targets=[target]):
                return self._assignment(target, self.value(node.value))
            case ast.AugAssign():
                changed = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                return self._assignment(node.target, self.value(changed))
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")), orelse=[]):
                start, stop = self._range(node.iter)
                head = f"for (${name} = {start}; ${name} < {stop}; ${name} += 1n)"
                return [f"{head} {{", *self._block(node.body, "  "), "}"]
            case ast.For(target=ast.Name(id=name), orelse=[]):
                entries = self.value(node.iter)
                kind = kind_of_entries(entries.kind)
                if kind is None:
                    raise self.refused(node)
                self._assigned(node.target, name, kind)
                set_name = f"  ${name} = {Value('entry', kind).as_kind(self.kinds[name])};"
                return [f"for (const entry of {entries.text}) {{", set_name, *self._block(node.body, "  "), "}"]
            case ast.While(orelse=[]):
                return [f"while ({self.value(node.test).text}) {{", *self._block(node.body, "  "), "}"]
            case ast.If():
                otherwise = ["} else {", *self._block(node.orelse, "  ")] if node.orelse else []
                return [f"if ({self.value(node.test).text}) {{", *self._block(node.body, "  "), *otherwise, "}"]
            case ast.Break() | ast.Continue():
                return ["break;" if isinstance(node, ast.Break) else "continue;"]
        raise self.refused(node)

    def _returned(self, node: ast.stmt, value: Value) -> str:
        """A value as this rule returns it: as wide as the widest of its returned values."""
        kind = value.kind if self.result is None else joined_kind(self.result, value.kind)
        if kind is None:
            raise self.refused(node)
        self.result = kind
        return value.as_kind(kind)

    def _assignment(self, target: ast.expr, value: Value) -> list[str]:
        match target, value.kind:
            case ast.Name(id=name), kind:
                self._assigned(target, name, kind)
                return [f"${name} = {value.as_kind(self.kinds[name])};"]
            case ast.Tuple(elts=elements), tuple(kinds) if len(elements) == len(kinds):
                names = [name.id for name in elements if isinstance(name, ast.Name)]
                if len(names) == len(kinds):
                    for name, kind in zip(names, kinds, strict=True):
                        self._assigned(target, name, kind)
                    wanted = tuple(self.kinds[name] for name in names)
                    return [f"[{', '.join(f'${name}' for name in names)}] = {value.as_kind(wanted)};"]
        raise self.refused(target)

    def _assigned(self, node: ast.expr, name: str, kind: Kind) -> None:
        """A variable is given a value of this kind."""
        before = self.kinds[name]
        # What is not known yet counts as a number.
        found = kind if before == NUMBER else joined_kind(before, kind)
        if found is None:
            raise self.refused(node)
        self.kinds[name] = found

    def _range(self, node: ast.expr) -> tuple[str, str]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                return "0n", self.value(stop).text
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                return self.value(start).text, self.value(stop).text
        raise self.refused(node)
