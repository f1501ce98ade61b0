"""Translates the expressions of rules to JavaScript; `selfplay.web.rules_in_javascript` says what they become."""

import ast
import builtins
import inspect
import operator
import textwrap
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType
from typing import Any, Protocol

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


class Translated(Protocol):
    """What is translated already."""

    tables: dict[str, str]
    """The names of constant tuples, by their text."""

    def called(self, function: Callable[..., Any], kinds: Sequence[Kind]) -> Value:
        """The name of a function of arguments of these kinds, and the kind of its result."""


class RuleSource:
    """The source of one rule, and its expressions. Parameters and variables begin with $ in JavaScript, which has other
    keywords."""

    def __init__(self, translation: Translated, function: Callable[..., Any], kinds: Sequence[Kind]) -> None:
        self.translation, self.function = translation, function
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

    def _of_one_kind(self, node: ast.expr, one: ast.expr, other: ast.expr) -> tuple[str, str, Kind]:
        """Two operands as values of the kind of both, and this kind."""
        left, right = self.value(one), self.value(other)
        kind = joined(left.kind, right.kind)
        if kind is None:
            raise self.refused(node)
        return left.as_kind(kind), right.as_kind(kind), kind

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int()) | ast.Name():
                return self._number_or_name(node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self.is_constant_tuple(name):
                table, width = self.table(node, self.outer[name])
                return Value(f"{table}[Number({self.value(index).text})]", width)
            case ast.Attribute(value=of, attr=name):
                return self._field(node, self.value(of), name)
            case ast.Tuple(elts=elements):
                values = list(map(self.value, elements))
                return Value(f"[{', '.join(value.text for value in values)}]", tuple(value.kind for value in values))
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                return self._computed(node)
            # ~ of a comparison differs between Python and compiled code.
            case ast.UnaryOp(op=ast.Invert()) if not isinstance(node.operand, ast.Compare):
                return self._computed(node)
            case ast.UnaryOp(op=ast.Not()):
                return Value(f"({self.value(node.operand).text} ? 0n : 1n)", NUMBER, is_natural=True)
            case ast.BoolOp():
                sign = " && " if isinstance(node.op, ast.And) else " || "
                tests = (f"({self.value(operand).text} ? 1n : 0n)" for operand in node.values)
                return Value(f"({sign.join(tests)})", NUMBER, is_natural=True)
            case ast.IfExp():
                one, other, kind = self._of_one_kind(node, node.body, node.orelse)
                return Value(f"({self.value(node.test).text} ? {one} : {other})", kind)
            case ast.Compare(ops=[comparison]) if type(comparison) in COMPARISONS:
                left, right, kind = self._of_one_kind(node, node.left, node.comparators[0])
                if isinstance(kind, int):
                    return Value(f"({left} {COMPARISONS[type(comparison)]} {right} ? 1n : 0n)", NUMBER, is_natural=True)
            case ast.Call(func=ast.Name(id=name)):
                return self._called(node, self.outer.get(name, getattr(builtins, name, None)))
        raise self.refused(node)

    def _computed(self, node: ast.BinOp | ast.UnaryOp) -> Value:
        """What an operator gives."""
        if isinstance(node, ast.UnaryOp):
            text, kind, _ = self.value(node.operand)
            sign = "-" if isinstance(node.op, ast.USub) else "~"
            if isinstance(kind, int):
                return Value(wrapped(f"{sign}{text}", kind), kind)
            raise self.refused(node)
        left, right, kind = self._of_one_kind(node, node.left, node.right)
        match node.op:
            case ast.FloorDiv() if kind == NUMBER:
                return Value(f"floorDivide({left}, {right})", NUMBER)
            case ast.Mod() if kind == NUMBER:
                return Value(f"({left} - {right} * floorDivide({left}, {right}))", NUMBER)
            case operation if type(operation) in BITWISE | WRAPPED and isinstance(kind, int):
                right = self.value(node.right).text if isinstance(operation, SHIFTS) else right
                text = f"({left} {(BITWISE | WRAPPED)[type(operation)]} {right})"
                return Value(wrapped(text, kind) if type(operation) in WRAPPED else text, kind)
        raise self.refused(node)

    def _called(self, node: ast.Call, function: Any) -> Value:
        """A call of a rule, or of a class of positions."""
        arguments = list(map(self.value, node.args))
        if isinstance(function, PositionClass):
            return self._position(node, function, arguments)
        if node.keywords:
            raise self.refused(node)
        if isinstance(function, Hashable) and function in BUILT_IN:
            return BUILT_IN[function](*arguments)
        if not isinstance(function, FunctionType):
            raise self.refused(node)
        called = self.translation.called(function, [argument.kind for argument in arguments])
        return Value(f"{called.text}({', '.join(argument.text for argument in arguments)})", called.kind)

    def _position(self, node: ast.Call, position: PositionClass, arguments: list[Value]) -> Value:
        names = [place.name for place in position.places]
        given = dict(zip(names, arguments, strict=False))
        given |= {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        if len(arguments) + len(node.keywords) != len(names) or set(given) != set(names):
            raise self.refused(node)
        fields = (f"{name}: {given[name].as_kind(kind_of(position.place(name)))}" for name in names)
        return Value(f"{{ {', '.join(fields)} }}", position)

    def _field(self, node: ast.expr, position: Value, name: str) -> Value:
        if isinstance(position.kind, PositionClass) and name in (place.name for place in position.kind.places):
            return Value(f"{position.text}.{name}", kind_of(position.kind.place(name)), is_natural=True)
        raise self.refused(node)

    def is_constant_tuple(self, name: str) -> bool:
        return name not in self.kinds and isinstance(self.outer.get(name), tuple)

    def table(self, node: ast.expr, constants: tuple[Any, ...]) -> tuple[str, Kind]:
        """The name in JavaScript of a constant tuple, and the kind of its entries."""
        values = [self._constant(node, constant) for constant in constants]
        kind: Kind | None = values[0].kind if values else None
        for value in values:
            kind = joined(kind, value.kind)
        if kind is None:
            raise self.refused(node)
        entries = ", ".join(value.as_kind(kind) for value in values)
        tables = self.translation.tables
        return tables.setdefault(f"[{entries}]", f"table_{len(tables)}"), kind

    def _constant(self, node: ast.expr, constant: Any) -> Value:
        """A number, or a tuple of constants."""
        if not isinstance(constant, tuple):
            return self._number(node, constant)
        values = [self._constant(node, one) for one in constant]
        return Value(f"[{', '.join(value.text for value in values)}]", tuple(value.kind for value in values))

    def _number_or_name(self, node: ast.Constant | ast.Name) -> Value:
        if isinstance(node, ast.Name) and node.id in self.kinds:
            return Value(f"${node.id}", self.kinds[node.id])
        return self._number(node, node.value if isinstance(node, ast.Constant) else self.outer.get(node.id))

    def _number(self, node: ast.expr, constant: Any) -> Value:
        try:
            number = operator.index(constant)
        except TypeError:
            raise self.refused(node) from None
        kind = constant.num_parts if isinstance(constant, WordInt) else NUMBER
        width = PART_BITS * max(kind, 1)
        if not -(1 << (width - 1)) <= number < 1 << width:
            raise self.refused(node)
        return Value(f"{number}n" if number >= 0 else f"({number}n)", kind, is_natural=number >= 0)

    def refused(self, node: Any) -> SettingError:
        line = ast.unparse(node).strip().partition("\n")[0]
        at = self.first_line + node.lineno - 1
        return SettingError(f"rule {self._where()}, line {at}: {line!r} cannot be translated to JavaScript; {KNOWN}")

    def _where(self) -> str:
        return f"{self.function.__name__} in {self.function.__module__}"
