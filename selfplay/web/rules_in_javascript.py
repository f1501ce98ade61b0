"""Translates the rules of a game from their Python source to JavaScript.

A rule is a function of words and numbers (`selfplay.compute.bit_algebra`). Both become BigInts: words without a sign,
numbers as signed integers of 64 bits, each wrapped to its width where an operation can leave it. Comparisons give 1n or
0n. Numbers from closures and modules are written as they are, and other rules that a rule calls are translated too,
once for each kinds of arguments.

As in compiled code, what an operator gives for a word and a number is a word, and a variable that is a word somewhere
is one everywhere.
"""

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.words import PART_BITS, WordInt, parts_of_bits
from selfplay.errors import SettingError

BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>"}
"""Operators whose result has the width of the operands."""
WRAPPED: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<"}
SHIFTS = ast.LShift, ast.RShift
COMPARISONS: dict[type[ast.cmpop], str] = {
    **{ast.Eq: "===", ast.NotEq: "!==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
KNOWN = "rules that can be translated have assignments, if, while, for over range(), break, continue and return, and in"
KNOWN += " them & | ^ ~ << >> + - * // and or not, comparisons, calls of such rules, and entries of constant tuples"

PRELUDE = """\
export const wordBits = {bits};
const word = (value) => BigInt.asUintN(wordBits, value);
const number = (value) => BigInt.asIntN(64, value);
const bitCount = (value) => {{
  let count = 0;
  for (let rest = word(value); rest !== 0n; rest >>= 32n) {{
    let half = Number(rest & 0xffffffffn);
    half -= (half >>> 1) & 0x55555555;
    half = (half & 0x33333333) + ((half >>> 2) & 0x33333333);
    count += (((half + (half >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }}
  return BigInt(count);
}};
const floorDivide = (a, b) => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
"""


Kind = str | tuple[Any, ...]
"""WORD, NUMBER, or a tuple of kinds."""
WORD, NUMBER = "word", "number"


class Value(NamedTuple):
    """An expression in JavaScript."""

    text: str
    kind: Kind
    is_natural: bool = False
    """Whether it surely is a number without a sign, which is the same as a word."""

    def as_word(self) -> str:
        return self.text if self.kind == WORD or self.is_natural else f"word({self.text})"


def javascript_of(
    rules: Mapping[str, Callable[..., Any]], word_bits: int = PART_BITS, numbers: Mapping[str, int] | None = None
) -> str:
    """A JavaScript module that exports each of `rules` under its name, as a function of BigInts, and `wordBits`.

    Args:
        word_bits: see `selfplay.games.rules.Rules`.
        numbers: by name, how many of the last arguments of a rule are numbers. All others are words.

    Raises SettingError, with the line, for the first rule whose source cannot be read or has operations besides
    `KNOWN`.
    """
    width = PART_BITS * parts_of_bits(word_bits)
    translation, exported = _Translation(width), dict[str, str]()
    for name, function in rules.items():
        last = (numbers or {}).get(name, 0)
        count = function.__code__.co_argcount if isinstance(function, FunctionType) else 0
        kinds = [WORD] * (count - last) + [NUMBER] * last
        exported[name] = translation.called(function, kinds).text
    lines = [f"export const {name} = {function};" for name, function in exported.items()]
    return "\n".join([PRELUDE.format(bits=width), *translation.functions, *lines, ""])


class _Translation:
    """The functions translated so far, each after those that it calls."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.functions: list[str] = []
        self._called: dict[Any, Value] = {}

    def called(self, function: Callable[..., Any], kinds: Sequence[Kind]) -> Value:
        """The name in JavaScript of a function of arguments of these kinds, which is translated the first time, and the
        kind of its result."""
        key = function, *kinds
        if key not in self._called:
            rule = _Rule(self, function, kinds)
            text, name = rule.text(), f"{function.__name__}_{len(self._called)}"
            self._called[key] = Value(name, rule.result or NUMBER)
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
        changed = [f"  ${name} = word(${name});" for name, kind in self.given.items() if kind != self.kinds[name]]
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
        """A value as this rule returns it: a word if any of its returned values is one."""
        if self.result is None or (self.result == NUMBER and value.kind == WORD):
            self.result = value.kind
        if self.result == WORD and value.kind == NUMBER:
            return value.as_word()
        if self.result != value.kind:
            raise self._refused(node)
        return value.text

    def _assignment(self, target: ast.expr, value: Value) -> list[str]:
        lines = [f"{self._value(target).text} = {value.text};"]
        match target, value.kind:
            case ast.Name(id=name), kind:
                assigned = {name: kind}
            case ast.Tuple(elts=elements), tuple(kinds) if len(elements) == len(kinds):
                assigned = {
                    name.id: kind for name, kind in zip(elements, kinds, strict=True) if isinstance(name, ast.Name)
                }
            case _:
                raise self._refused(target)
        for name, kind in assigned.items():
            if kind != NUMBER:
                self.kinds[name] = kind
            elif self.kinds[name] == WORD:
                lines.append(f"${name} = word(${name});")
        return lines

    def _range(self, node: ast.expr) -> tuple[str, str]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                return "0n", self._value(stop).text
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                return self._value(start).text, self._value(stop).text
        raise self._refused(node)

    def _of_one_kind(self, *nodes: ast.expr) -> tuple[str, str, Kind]:
        """Two operands, both words if one of them is, and their kind."""
        one, other = map(self._value, nodes)
        if WORD in (one.kind, other.kind):
            return one.as_word(), other.as_word(), WORD
        return one.text, other.text, NUMBER

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int()) | ast.Name():
                return self._number_or_name(node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if isinstance(self.outer.get(name), tuple):
                numbers = [self._number(node, number) for number in self.outer[name]]
                entry = f"[{', '.join(number.text for number in numbers)}][Number({self._value(index).text})]"
                return Value(entry, WORD if WORD in {number.kind for number in numbers} else NUMBER)
            case ast.Tuple(elts=elements):
                values = list(map(self._value, elements))
                return Value(f"[{', '.join(value.text for value in values)}]", tuple(value.kind for value in values))
            case ast.BinOp(op=ast.FloorDiv()):
                left, right, kind = self._of_one_kind(node.left, node.right)
                if kind == NUMBER:
                    return Value(f"floorDivide({left}, {right})", NUMBER)
            case ast.BinOp() if type(node.op) in BITWISE | WRAPPED:
                left, right, kind = self._of_one_kind(node.left, node.right)
                right = self._value(node.right).text if isinstance(node.op, SHIFTS) else right
                text = f"({left} {(BITWISE | WRAPPED)[type(node.op)]} {right})"
                return Value(f"{kind}{text}" if type(node.op) in WRAPPED else text, kind)
            case ast.UnaryOp(op=ast.USub()):
                text, kind, _ = self._value(node.operand)
                return Value(f"{kind}(-{text})", kind)
            # ~ of a comparison differs between Python and compiled code.
            case ast.UnaryOp(op=ast.Invert()) if not isinstance(node.operand, ast.Compare):
                text, kind, _ = self._value(node.operand)
                return Value(f"{kind}(~{text})", kind)
            case ast.UnaryOp(op=ast.Not()):
                return Value(f"({self._value(node.operand).text} ? 0n : 1n)", NUMBER, is_natural=True)
            case ast.BoolOp():
                sign = " && " if isinstance(node.op, ast.And) else " || "
                tests = (f"({self._value(operand).text} ? 1n : 0n)" for operand in node.values)
                return Value(f"({sign.join(tests)})", NUMBER, is_natural=True)
            case ast.IfExp():
                one, other, kind = self._of_one_kind(node.body, node.orelse)
                return Value(f"({self._value(node.test).text} ? {one} : {other})", kind)
            case ast.Compare(ops=[comparison]) if type(comparison) in COMPARISONS:
                left, right, _ = self._of_one_kind(node.left, node.comparators[0])
                return Value(f"({left} {COMPARISONS[type(comparison)]} {right} ? 1n : 0n)", NUMBER, is_natural=True)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if isinstance(self.outer.get(name), FunctionType):
                rule, arguments = self.outer[name], list(map(self._value, node.args))
                kinds = [argument.kind for argument in arguments]
                is_count = rule is bit_count
                called = Value("bitCount", NUMBER) if is_count else self.translation.called(rule, kinds)
                text = f"{called.text}({', '.join(argument.text for argument in arguments)})"
                return Value(text, called.kind, is_natural=is_count)
        raise self._refused(node)

    def _number_or_name(self, node: ast.Constant | ast.Name) -> Value:
        if isinstance(node, ast.Name) and node.id in self.kinds:
            return Value(f"${node.id}", self.kinds[node.id])
        return self._number(node, node.value if isinstance(node, ast.Constant) else self.outer.get(node.id))

    def _number(self, node: ast.expr, constant: Any) -> Value:
        try:
            number = operator.index(constant)
        except TypeError:
            raise self._refused(node) from None
        width = self.translation.width
        if not -(1 << (width - 1)) <= number < 1 << width:
            raise self._refused(node)
        kind = WORD if isinstance(constant, WordInt) else NUMBER
        return Value(f"{number}n" if number >= 0 else f"({number}n)", kind, is_natural=number >= 0)

    def _refused(self, node: Any) -> SettingError:
        line = ast.unparse(node).strip().partition("\n")[0]
        at = self.first_line + node.lineno - 1
        return SettingError(f"rule {self._where()}, line {at}: {line!r} cannot be translated to JavaScript; {KNOWN}")

    def _where(self) -> str:
        return f"{self.function.__name__} in {self.function.__module__}"
