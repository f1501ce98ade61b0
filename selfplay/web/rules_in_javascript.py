"""Translates the rules of a game from their Python source to JavaScript.

A rule is a branch-free expression on words (`selfplay.compute.bit_algebra`). Words become BigInts, which are wrapped to
their width where an operation can leave it, as signed numbers; comparisons give 1n or 0n. Numbers from closures and
modules are written as they are, and other rules that a rule calls are translated too.
"""

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from selfplay.compute.bit_algebra import all_equal, bit_count
from selfplay.compute.wide_words import PART_BITS, parts_of_bits
from selfplay.errors import SettingError

BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>"}
"""Operators whose result is a word if both operands are."""
WRAPPED: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    **{ast.Eq: "===", ast.NotEq: "!==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
KNOWN = "rules that can be translated are assignments, loops over range() and a return of & | ^ ~ << >> + - * // and"
KNOWN += " comparisons of words, calls of such rules, entries of constant tuples, and a break if all_equal"

PRELUDE = """\
export const wordBits = {bits};
const wrap = (word) => BigInt.asIntN(wordBits, word);
const shiftRight = (word, by) => wrap(BigInt.asUintN(wordBits, word) >> by);
const bitCount = (word) => {{
  let count = 0;
  for (let rest = BigInt.asUintN(wordBits, word); rest !== 0n; rest >>= 32n) {{
    let half = Number(rest & 0xffffffffn);
    half -= (half >>> 1) & 0x55555555;
    half = (half & 0x33333333) + ((half >>> 2) & 0x33333333);
    count += (((half + (half >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }}
  return BigInt(count);
}};
const floorDivide = (a, b) => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
"""


def javascript_of(rules: Mapping[str, Callable[..., Any]], word_bits: int = PART_BITS) -> str:
    """A JavaScript module that exports each of `rules` under its name, as a function of BigInts, and `wordBits`.

    Args:
        word_bits: see `selfplay.games.rules.Rules`.

    Raises SettingError, with the line, for the first rule whose source cannot be read or has operations besides
    `KNOWN`.
    """
    width = PART_BITS * parts_of_bits(word_bits)
    translation = _Translation(width)
    exported = {name: translation.name_of(function) for name, function in rules.items()}
    lines = [f"export const {name} = {function};" for name, function in exported.items()]
    return "\n".join([PRELUDE.format(bits=width), *translation.functions, *lines, ""])


class _Translation:
    """The functions translated so far, each after those that it calls."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.functions: list[str] = []
        self._names: dict[Callable[..., Any], str] = {}

    def name_of(self, function: Callable[..., Any]) -> str:
        """The name in JavaScript of a function, which is translated the first time."""
        if function not in self._names:
            text = _Rule(self, function).text()
            self._names[function] = f"{function.__name__}_{len(self._names)}"
            self.functions.append(f"function {self._names[function]}{text}")
        return self._names[function]


class _Rule:
    """The source of one rule. Its parameters and variables begin with $ in JavaScript, which has other keywords."""

    def __init__(self, translation: _Translation, function: Callable[..., Any]) -> None:
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
        self.variables = {node.id: None for node in stored if node.id not in self.parameters}

    def text(self) -> str:
        arguments = self.tree.args
        if len(self.parameters) != sum(map(len, (arguments.args, arguments.posonlyargs, arguments.kwonlyargs))):
            raise self._refused(self.tree)
        if arguments.vararg or arguments.kwarg or arguments.defaults:
            raise self._refused(self.tree)
        variables = [f"  let {', '.join(f'${name}' for name in self.variables)};"] if self.variables else []
        body = self._block(self.tree.body, "  ")
        return "\n".join([f"({', '.join(f'${name}' for name in self.parameters)}) {{", *variables, *body, "}"])

    def _block(self, statements: list[ast.stmt], indent: str) -> list[str]:
        return [line for statement in statements for line in self._statement(statement, indent)]

    def _statement(self, node: ast.stmt, indent: str) -> list[str]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Return(value=ast.expr() as value):
                return [f"{indent}return {self._value(value)};"]
            case ast.Assign(targets=[target]):
                return [f"{indent}{self._value(target)} = {self._value(node.value)};"]
            case ast.AugAssign():
                changed = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                return [f"{indent}{self._value(node.target)} = {self._value(changed)};"]
            case ast.For(target=ast.Name(id=name), orelse=[]):
                start, stop = self._range(node.iter)
                head = f"for (${name} = {start}; ${name} < {stop}; ${name} += 1n)"
                return [f"{indent}{head} {{", *self._block(node.body, indent + "  "), f"{indent}}}"]
            case ast.If(test=ast.Call(func=ast.Name(id=name), args=[one, other]), body=[ast.Break()], orelse=[]) if (
                self.outer.get(name) is all_equal
            ):
                return [f"{indent}if ({self._value(one)} === {self._value(other)}) break;"]
        raise self._refused(node)

    def _range(self, node: ast.expr) -> tuple[str, str]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                return "0n", self._value(stop)
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                return self._value(start), self._value(stop)
        raise self._refused(node)

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int()) | ast.Name():
                return self._number_or_name(node)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if isinstance(self.outer.get(name), tuple):
                numbers = ", ".join(self._number(node, number) for number in self.outer[name])
                return f"[{numbers}][Number({self._value(index)})]"
            case ast.Tuple(elts=elements):
                return f"[{', '.join(map(self._value, elements))}]"
            case ast.BinOp(op=ast.FloorDiv()):
                return f"floorDivide({self._value(node.left)}, {self._value(node.right)})"
            # The shift of a word of at most 64 bits copies its sign bit.
            case ast.BinOp(op=ast.RShift()) if self.translation.width > PART_BITS:
                return f"shiftRight({self._value(node.left)}, {self._value(node.right)})"
            case ast.BinOp() if type(node.op) in BITWISE | WRAPPED:
                operation = (BITWISE | WRAPPED)[type(node.op)]
                text = f"({self._value(node.left)} {operation} {self._value(node.right)})"
                return f"wrap{text}" if type(node.op) in WRAPPED else text
            case ast.UnaryOp(op=ast.USub()):
                return f"wrap(-{self._value(node.operand)})"
            # ~ of a comparison differs between Python, torch and compiled code.
            case ast.UnaryOp(op=ast.Invert()) if not isinstance(node.operand, ast.Compare):
                return f"(~{self._value(node.operand)})"
            case ast.Compare(ops=[comparison]) if type(comparison) in COMPARISONS:
                left, right = self._value(node.left), self._value(node.comparators[0])
                return f"({left} {COMPARISONS[type(comparison)]} {right} ? 1n : 0n)"
            case ast.Call(func=ast.Name(id=name), keywords=[]) if isinstance(self.outer.get(name), FunctionType):
                rule = self.outer[name]
                called = "bitCount" if rule is bit_count else self.translation.name_of(rule)
                return f"{called}({', '.join(map(self._value, node.args))})"
        raise self._refused(node)

    def _number_or_name(self, node: ast.Constant | ast.Name) -> str:
        if isinstance(node, ast.Name) and (node.id in self.variables or node.id in self.parameters):
            return f"${node.id}"
        constant = node.value if isinstance(node, ast.Constant) else self.outer.get(node.id)
        return self._number(node, constant)

    def _number(self, node: ast.expr, constant: Any) -> str:
        try:
            number = operator.index(constant)
        except TypeError:
            raise self._refused(node) from None
        width = self.translation.width
        if width > PART_BITS and number >> (width - 1) == 1:
            number -= 1 << width  # the word as a signed number
        if not -(1 << (width - 1)) <= number < 1 << (width - 1):
            raise self._refused(node)
        return f"{number}n" if number >= 0 else f"({number}n)"

    def _refused(self, node: Any) -> SettingError:
        line = ast.unparse(node).strip().partition("\n")[0]
        at = self.first_line + node.lineno - 1
        return SettingError(f"rule {self._where()}, line {at}: {line!r} cannot be translated to JavaScript; {KNOWN}")

    def _where(self) -> str:
        return f"{self.function.__name__} in {self.function.__module__}"
