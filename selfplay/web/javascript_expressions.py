"""Translates the expressions of rules to JavaScript; `selfplay.web.rules_in_javascript` says what they become."""

import ast
import builtins
import inspect
import itertools
import operator
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType
from typing import Any, Protocol

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compiled_words import as_word, bit_like, lowest, num_parts, part
from selfplay.compute.positions import PositionClass
from selfplay.compute.replaced import replaced
from selfplay.compute.wide_rules import names_around, source_tree
from selfplay.compute.words import PART_BITS, WordInt
from selfplay.errors import SettingError
from selfplay.web.javascript_values import (
    NUMBER,
    WORD,
    Kind,
    Value,
    joined_kind,
    kind_of_entries,
    kind_of_field,
    wrapped,
)

BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>"}
"""Operators whose result has the width of the operands."""
WRAPPED: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<"}
SHIFTS = ast.LShift, ast.RShift
COMPARISONS: dict[type[ast.cmpop], str] = {
    **{ast.Eq: "===", ast.NotEq: "!==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
KNOWN = "rules that can be translated have assignments, if, while, for over range() or a tuple, break, continue and"
KNOWN += " return, and in them & | ^ ~ << >> + - * // % and or not, comparisons, calls of such rules and of classes of"
KNOWN += " positions, fields of positions, entries and parts of tuples, replaced, len, sum, min, max, abs, bool and int"

BUILT_IN: dict[Callable[..., Any], Callable[..., Value | None]] = {
    bit_count: lambda word: Value(f"bitCount({word.as_kind(word.kind or WORD)})", NUMBER, is_natural=True),
    lowest: lambda word: Value(f"lowest({word.as_kind(word.kind or WORD)})", NUMBER, is_natural=True),
    bit_like: lambda word, number: Value(f"(1n << {number.text})", word.kind),
    part: lambda word, k: Value(wrapped(f"({word.text} >> ({PART_BITS}n * {k.text}))", NUMBER), NUMBER),
    num_parts: lambda word: Value(f"{word.kind or WORD}n", NUMBER, is_natural=True),
    as_word: lambda number: Value(number.as_kind(WORD), WORD),
    min: lambda *values: _chosen("<", *values),
    max: lambda *values: _chosen(">", *values),
    len: lambda several: Value(f"{len(several.kind)}n", NUMBER, is_natural=True) if _is_tuple(several) else None,
    sum: lambda several: _reduced(several, wrapped("one + other", NUMBER)),
    replaced: lambda several, i, number: _replaced(several, i, number),
    abs: lambda one: Value(f"({one.text} < 0n ? -{one.text} : {one.text})", NUMBER),
    bool: lambda value: Value(f"({value.text} ? 1n : 0n)", NUMBER, is_natural=True),
    int: lambda value: Value(value.as_kind(NUMBER), NUMBER, value.is_natural),
}
"""Functions that are not translated from their source; None: not of values of these kinds."""


def _chosen(sign: str, one: Value, *others: Value) -> Value | None:
    """The smaller or the larger of two words or numbers, or of the numbers in a tuple."""
    if not others:
        return _reduced(one, f"one {sign} other ? one : other")
    for other in others:
        kind = joined_kind(one.kind, other.kind) or NUMBER
        left, right = one.as_kind(kind), other.as_kind(kind)
        one = Value(f"({left} {sign} {right} ? {left} : {right})", kind)
    return one


def _takes(function: Callable[..., Any], arguments: list[Value]) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    return True


def _is_tuple(value: Value) -> bool:
    return kind_of_entries(value.kind) is not None


def _reduced(several: Value, text: str) -> Value | None:
    """One number from those of a tuple, two at a time: `one` and `other`."""
    if kind_of_entries(several.kind) != NUMBER:
        return None
    return Value(f"{several.text}.reduce((one, other) => {text})", NUMBER)


def _replaced(several: Value, i: Value, number: Value) -> Value | None:
    if kind_of_entries(several.kind) != NUMBER or not i.kind == number.kind == NUMBER:
        return None
    return Value(f"replaced({several.text}, {i.text}, {number.text})", several.kind)


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
            self.tree, self.first_line = source_tree(function)
        except (OSError, TypeError, SyntaxError):
            raise SettingError(f"rule {self._where()}: its source cannot be read, or is not made with def") from None
        self.outer = names_around(function)
        stored = (
            node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self.parameters = [argument.arg for argument in self.tree.args.args]
        self.variables = list(dict.fromkeys(node.id for node in stored if node.id not in self.parameters))
        self.given = dict[str, Kind](zip(self.parameters, kinds, strict=False))
        self.kinds = dict[str, Kind](dict.fromkeys(self.variables, NUMBER)) | self.given

    def _of_one_kind(self, node: ast.expr, one: ast.expr, other: ast.expr) -> tuple[str, str, Kind]:
        """Two operands as values of the kind of both, and this kind."""
        left, right = self.value(one), self.value(other)
        kind = joined_kind(left.kind, right.kind)
        if kind is None:
            raise self.refused(node)
        return left.as_kind(kind), right.as_kind(kind), kind

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int()) | ast.Name():
                return self._number_or_name(node)
            case ast.Subscript(value=of, slice=index):
                return self._part_of_tuple(node, self.value(of), index)
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
                if isinstance(kind, tuple) and isinstance(comparison, ast.Eq | ast.NotEq):
                    are_equal = ("1n", "0n") if isinstance(comparison, ast.Eq) else ("0n", "1n")
                    return Value(f"(areEqual({left}, {right}) ? {' : '.join(are_equal)})", NUMBER, is_natural=True)
            case ast.Compare(ops=[_, _, *_]):
                operands = itertools.pairwise([node.left, *node.comparators])
                pairs = (ast.Compare(one, [by], [other]) for by, (one, other) in zip(node.ops, operands, strict=True))
                links: list[ast.expr] = [ast.copy_location(pair, node) for pair in pairs]
                return self.value(ast.copy_location(ast.BoolOp(ast.And(), links), node))
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
        one, other = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(one.kind, tuple) and isinstance(other.kind, tuple):
            return Value(f"[...{one.text}, ...{other.text}]", one.kind + other.kind)
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
            built_in = BUILT_IN[function]
            found = built_in(*arguments) if _takes(built_in, arguments) else None
            if found is None:
                raise self.refused(node)
            return found
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
        fields = (f"{name}: {given[name].as_kind(kind_of_field(position.place(name)))}" for name in names)
        return Value(f"{{ {', '.join(fields)} }}", position)

    def _field(self, node: ast.expr, position: Value, name: str) -> Value:
        if isinstance(position.kind, PositionClass) and name in (place.name for place in position.kind.places):
            return Value(f"{position.text}.{name}", kind_of_field(position.kind.place(name)), is_natural=True)
        raise self.refused(node)

    def _part_of_tuple(self, node: ast.expr, several: Value, index: ast.expr) -> Value:
        """An entry of a tuple, or those between constant bounds."""
        kind = kind_of_entries(several.kind)
        if kind is None or not isinstance(several.kind, tuple):
            raise self.refused(node)
        if not isinstance(index, ast.Slice):
            return Value(f"entryOf({several.text}, {self.value(index).text})", kind)
        if index.step is not None:
            raise self.refused(node)
        bounds = [None if bound is None else self._constant_number(bound) for bound in (index.lower, index.upper)]
        first, last, _ = slice(*bounds).indices(len(several.kind))
        return Value(f"{several.text}.slice({first}, {last})", several.kind[first:last])

    def _constant_number(self, node: ast.expr) -> int:
        """A literal number or the name of a constant, which compiled code needs too."""
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
            case ast.Name(id=name) if name not in self.kinds and isinstance(self.outer.get(name), int):
                return int(self.outer[name])
        raise self.refused(node)

    def _is_constant_tuple(self, name: str) -> bool:
        return name not in self.kinds and isinstance(self.outer.get(name), tuple)

    def _table(self, node: ast.expr, constants: tuple[Any, ...]) -> tuple[str, Kind]:
        """The name in JavaScript of a constant tuple, and the kind of its entries."""
        values = [self._constant(node, constant) for constant in constants]
        kind: Kind | None = values[0].kind if values else None
        for value in values:
            kind = joined_kind(kind, value.kind)
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
        if isinstance(node, ast.Name) and self._is_constant_tuple(node.id):
            table, kind = self._table(node, self.outer[node.id])
            return Value(table, (kind,) * len(self.outer[node.id]))
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
