"""Translates the rules of a game from their Python source to JavaScript.

A rule is a function of positions, words and numbers (`selfplay.compute.bit_algebra`). A position becomes an object of
its fields. Words and numbers become BigInts: words without a sign, numbers as signed integers of 64 bits, each wrapped
to its width where an operation can leave it. Comparisons give 1n or 0n. Numbers from closures and modules are written
as they are, and other rules that a rule calls are translated too, once for each kinds of arguments.

As in compiled code, what an operator gives is as wide as the wider of its operands, and a variable is as wide
everywhere as where it is widest.
"""

import ast
import builtins
import inspect
import operator
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import FunctionType
from typing import Any

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compiled_words import as_word, bit_like, lowest, num_parts, part
from selfplay.compute.positions import PositionClass
from selfplay.compute.words import PART_BITS, WordInt
from selfplay.errors import SettingError
from selfplay.web.javascript_values import NUMBER, WORD, Kind, Value, joined, kind_of, wrapped

BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>"}
"""Operators whose result has the width of the operands."""
WRAPPED: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<"}
SHIFTS = ast.LShift, ast.RShift
COMPARISONS: dict[type[ast.cmpop], str] = {
    **{ast.Eq: "===", ast.NotEq: "!==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
KNOWN = "rules that can be translated have assignments, if, while, for over range() or a tuple, break, continue and"
KNOWN += " return, and in them & | ^ ~ << >> + - * // % and or not, comparisons, calls of such rules and of classes of"
KNOWN += " positions, fields of positions, entries of constant tuples, and min, max, abs, bool and int"

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
"""

BUILT_IN: dict[Callable[..., Any], Callable[..., Value]] = {
    bit_count: lambda word: Value(f"bitCount({word.as_kind(word.kind or WORD)})", NUMBER, is_natural=True),
    lowest: lambda word: Value(f"lowest({word.as_kind(word.kind or WORD)})", NUMBER, is_natural=True),
    bit_like: lambda word, number: Value(f"(1n << {number.text})", word.kind),
    part: lambda word, k: Value(wrapped(f"({word.text} >> ({PART_BITS}n * {k.text}))", NUMBER), NUMBER),
    num_parts: lambda word: Value(f"{word.kind or WORD}n", NUMBER, is_natural=True),
    as_word: lambda number: Value(number.as_kind(WORD), WORD),
    min: lambda *values: _chosen("<", *values),
    max: lambda *values: _chosen(">", *values),
    abs: lambda one: Value(f"({one.text} < 0n ? -{one.text} : {one.text})", NUMBER),
    bool: lambda value: Value(f"({value.text} ? 1n : 0n)", NUMBER, is_natural=True),
    int: lambda value: Value(value.as_kind(NUMBER), NUMBER, value.is_natural),
}
"""Functions that are not translated from their source."""


def _chosen(sign: str, one: Value, other: Value) -> Value:
    """The smaller or the larger of two words or numbers."""
    kind = joined(one.kind, other.kind) or NUMBER
    left, right = one.as_kind(kind), other.as_kind(kind)
    return Value(f"({left} {sign} {right} ? {left} : {right})", kind)


def javascript_of(
    rules: Mapping[str, tuple[Callable[..., Any], Sequence[Kind]]], position: PositionClass | None = None
) -> str:
    """A JavaScript module that exports functions of positions and BigInts.

    Args:
        rules: by name, a rule and the kinds of its arguments.
        position: the class of the positions that `packed` turns into BigInts, and `unpacked` into positions.

    Raises SettingError, with the line, for the first rule whose source cannot be read or has operations besides
    `KNOWN`.
    """
    translation = _Translation()
    exported = {name: translation.called(function, kinds).text for name, (function, kinds) in rules.items()}
    lines = [f"export const {name} = {function};" for name, function in exported.items()]
    tables = [f"const {name} = {entries};" for entries, name in translation.tables.items()]
    return "\n".join([PRELUDE, *tables, *translation.functions, *lines, *_packing(position), ""])


def _packing(position: PositionClass | None) -> list[str]:
    if position is None:
        return []
    places = position.places
    bits = " | ".join(f"({place.name} << {place.offset}n)" for place in places)
    fields = ", ".join(f"{one.name}: BigInt.asUintN({one.bits}, word >> {one.offset}n)" for one in places)
    return [
        f"export const packed = ({{ {', '.join(place.name for place in places)} }}) => {bits};",
        f"export const unpacked = (word) => ({{ {fields} }});",
    ]


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


class _Rule:
    """The source of one rule. Its parameters and variables begin with $ in JavaScript, which has other keywords."""

    def __init__(self, translation: _Translation, function: Callable[..., Any], kinds: Sequence[Kind]) -> None:
        self.translation, self.function = translation, function
        self.result: Kind | None = None
        try:
            lines, self.first_line = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        except (OSError, TypeError, SyntaxError):
            raise SettingError(f"rule {self._where()}: its source cannot be read") from None
        if not isinstance(tree, ast.FunctionDef) or not isinstance(function, FunctionType):
            raise SettingError(f"rule {self._where()}: is not a function made with def")
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self.outer = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
        self.tree = tree
        stored = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        self.parameters = [argument.arg for argument in tree.args.args]
        self.variables = list(dict.fromkeys(node.id for node in stored if node.id not in self.parameters))
        self.given = dict[str, Kind](zip(self.parameters, kinds, strict=False))
        self.kinds = dict[str, Kind](dict.fromkeys(self.variables, NUMBER)) | self.given

    def text(self) -> str:
        arguments = self.tree.args
        if len(self.parameters) != sum(map(len, (arguments.args, arguments.posonlyargs, arguments.kwonlyargs))):
            raise self._refused(self.tree)
        if arguments.vararg or arguments.kwarg or arguments.defaults:
            raise self._refused(self.tree)
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
                return [f"return {self._returned(node, self._value(returned))};"]
            case ast.Assign(targets=[target]):
                return self._assignment(target, self._value(node.value))
            case ast.AugAssign():
                changed = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                return self._assignment(node.target, self._value(changed))
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=of), orelse=[]) if self._is_constant_tuple(of):
                table, width = self._table(node.iter, self.outer[of])
                self._assigned(node.target, name, width)
                return [f"for (${name} of {table}) {{", *self._block(node.body, "  "), "}"]
            case ast.For(target=ast.Name(id=name), orelse=[]):
                start, stop = self._range(node.iter)
                head = f"for (${name} = {start}; ${name} < {stop}; ${name} += 1n)"
                return [f"{head} {{", *self._block(node.body, "  "), "}"]
            case ast.While(orelse=[]):
                return [f"while ({self._value(node.test).text}) {{", *self._block(node.body, "  "), "}"]
            case ast.If():
                otherwise = ["} else {", *self._block(node.orelse, "  ")] if node.orelse else []
                return [f"if ({self._value(node.test).text}) {{", *self._block(node.body, "  "), *otherwise, "}"]
            case ast.Break() | ast.Continue():
                return ["break;" if isinstance(node, ast.Break) else "continue;"]
        raise self._refused(node)

    def _returned(self, node: ast.stmt, value: Value) -> str:
        """A value as this rule returns it: as wide as the widest of its returned values."""
        kind = value.kind if self.result is None else joined(self.result, value.kind)
        if kind is None:
            raise self._refused(node)
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
        raise self._refused(target)

    def _assigned(self, node: ast.expr, name: str, kind: Kind) -> None:
        """A variable is given a value of this kind."""
        before = self.kinds[name]
        # What is not known yet counts as a number.
        found = kind if before == NUMBER else joined(before, kind)
        if found is None:
            raise self._refused(node)
        self.kinds[name] = found

    def _range(self, node: ast.expr) -> tuple[str, str]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                return "0n", self._value(stop).text
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                return self._value(start).text, self._value(stop).text
        raise self._refused(node)

    def _of_one_kind(self, node: ast.expr, one: ast.expr, other: ast.expr) -> tuple[str, str, Kind]:
        """Two operands as values of the kind of both, and this kind."""
        left, right = self._value(one), self._value(other)
        kind = joined(left.kind, right.kind)
        if kind is None:
            raise self._refused(node)
        return left.as_kind(kind), right.as_kind(kind), kind

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int()) | ast.Name():
                return self._number_or_name(node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self._is_constant_tuple(name):
                table, width = self._table(node, self.outer[name])
                return Value(f"{table}[Number({self._value(index).text})]", width)
            case ast.Attribute(value=of, attr=name):
                return self._field(node, self._value(of), name)
            case ast.Tuple(elts=elements):
                values = list(map(self._value, elements))
                return Value(f"[{', '.join(value.text for value in values)}]", tuple(value.kind for value in values))
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                return self._computed(node)
            # ~ of a comparison differs between Python and compiled code.
            case ast.UnaryOp(op=ast.Invert()) if not isinstance(node.operand, ast.Compare):
                return self._computed(node)
            case ast.UnaryOp(op=ast.Not()):
                return Value(f"({self._value(node.operand).text} ? 0n : 1n)", NUMBER, is_natural=True)
            case ast.BoolOp():
                sign = " && " if isinstance(node.op, ast.And) else " || "
                tests = (f"({self._value(operand).text} ? 1n : 0n)" for operand in node.values)
                return Value(f"({sign.join(tests)})", NUMBER, is_natural=True)
            case ast.IfExp():
                one, other, kind = self._of_one_kind(node, node.body, node.orelse)
                return Value(f"({self._value(node.test).text} ? {one} : {other})", kind)
            case ast.Compare(ops=[comparison]) if type(comparison) in COMPARISONS:
                left, right, kind = self._of_one_kind(node, node.left, node.comparators[0])
                if isinstance(kind, int):
                    return Value(f"({left} {COMPARISONS[type(comparison)]} {right} ? 1n : 0n)", NUMBER, is_natural=True)
            case ast.Call(func=ast.Name(id=name)):
                return self._called(node, self.outer.get(name, getattr(builtins, name, None)))
        raise self._refused(node)

    def _computed(self, node: ast.BinOp | ast.UnaryOp) -> Value:
        """What an operator gives."""
        if isinstance(node, ast.UnaryOp):
            text, kind, _ = self._value(node.operand)
            sign = "-" if isinstance(node.op, ast.USub) else "~"
            if isinstance(kind, int):
                return Value(wrapped(f"{sign}{text}", kind), kind)
            raise self._refused(node)
        left, right, kind = self._of_one_kind(node, node.left, node.right)
        match node.op:
            case ast.FloorDiv() if kind == NUMBER:
                return Value(f"floorDivide({left}, {right})", NUMBER)
            case ast.Mod() if kind == NUMBER:
                return Value(f"({left} - {right} * floorDivide({left}, {right}))", NUMBER)
            case operation if type(operation) in BITWISE | WRAPPED and isinstance(kind, int):
                right = self._value(node.right).text if isinstance(operation, SHIFTS) else right
                text = f"({left} {(BITWISE | WRAPPED)[type(operation)]} {right})"
                return Value(wrapped(text, kind) if type(operation) in WRAPPED else text, kind)
        raise self._refused(node)

    def _called(self, node: ast.Call, function: Any) -> Value:
        """A call of a rule, or of a class of positions."""
        arguments = list(map(self._value, node.args))
        if isinstance(function, PositionClass):
            return self._position(node, function, arguments)
        if node.keywords:
            raise self._refused(node)
        if isinstance(function, Hashable) and function in BUILT_IN:
            return BUILT_IN[function](*arguments)
        if not isinstance(function, FunctionType):
            raise self._refused(node)
        called = self.translation.called(function, [argument.kind for argument in arguments])
        return Value(f"{called.text}({', '.join(argument.text for argument in arguments)})", called.kind)

    def _position(self, node: ast.Call, position: PositionClass, arguments: list[Value]) -> Value:
        names = [place.name for place in position.places]
        given = dict(zip(names, arguments, strict=False))
        given |= {str(keyword.arg): self._value(keyword.value) for keyword in node.keywords}
        if len(arguments) + len(node.keywords) != len(names) or set(given) != set(names):
            raise self._refused(node)
        fields = (f"{name}: {given[name].as_kind(kind_of(position.place(name)))}" for name in names)
        return Value(f"{{ {', '.join(fields)} }}", position)

    def _field(self, node: ast.expr, position: Value, name: str) -> Value:
        if isinstance(position.kind, PositionClass) and name in (place.name for place in position.kind.places):
            return Value(f"{position.text}.{name}", kind_of(position.kind.place(name)), is_natural=True)
        raise self._refused(node)

    def _is_constant_tuple(self, name: str) -> bool:
        return name not in self.kinds and isinstance(self.outer.get(name), tuple)

    def _table(self, node: ast.expr, constants: tuple[Any, ...]) -> tuple[str, int]:
        """The name in JavaScript of a constant tuple, and the kind of its entries."""
        numbers = [self._number(node, constant) for constant in constants]
        kind = max((number.kind for number in numbers if isinstance(number.kind, int)), default=NUMBER)
        entries = ", ".join(number.as_kind(kind) for number in numbers)
        tables = self.translation.tables
        return tables.setdefault(f"[{entries}]", f"table_{len(tables)}"), kind

    def _number_or_name(self, node: ast.Constant | ast.Name) -> Value:
        if isinstance(node, ast.Name) and node.id in self.kinds:
            return Value(f"${node.id}", self.kinds[node.id])
        return self._number(node, node.value if isinstance(node, ast.Constant) else self.outer.get(node.id))

    def _number(self, node: ast.expr, constant: Any) -> Value:
        try:
            number = operator.index(constant)
        except TypeError:
            raise self._refused(node) from None
        kind = constant.num_parts if isinstance(constant, WordInt) else NUMBER
        width = PART_BITS * max(kind, 1)
        if not -(1 << (width - 1)) <= number < 1 << width:
            raise self._refused(node)
        return Value(f"{number}n" if number >= 0 else f"({number}n)", kind, is_natural=number >= 0)

    def _refused(self, node: Any) -> SettingError:
        line = ast.unparse(node).strip().partition("\n")[0]
        at = self.first_line + node.lineno - 1
        return SettingError(f"rule {self._where()}, line {at}: {line!r} cannot be translated to JavaScript; {KNOWN}")

    def _where(self) -> str:
        return f"{self.function.__name__} in {self.function.__module__}"
