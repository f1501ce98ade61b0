"""Rules of games with more than 64 squares or actions, with words that are wide enough.

In such a game every word must have as many parts of 64 bits as the widest board or set of actions, but an author writes
`1 << action`, which compiled code takes for a number of 64 bits. So each rule is replaced by a copy in which words are
wide enough: boards of positions, constants that are shifted, and constants of more than 63 bits. The copies call each
other, and do the same compiled and uncompiled.
"""

import ast
import inspect
import textwrap
from contextlib import suppress
from copy import deepcopy
from types import CellType, CodeType, FunctionType
from typing import Any

from selfplay.compute.bit_algebra import RULES, bit_count, rule
from selfplay.compute.positions import PositionClass, with_wide_boards
from selfplay.compute.words import LARGEST, WordInt

_trees = dict[Any, tuple[ast.FunctionDef, int]]()
"""The sources of copies that differ from what is in the file."""
_copies = dict[tuple[Any, int], Any]()
"""By a rule and the number of parts of its words."""


def source_tree(function: Any) -> tuple[ast.FunctionDef, int]:
    """The definition of a function, and the line of its file in which this begins.

    Raises OSError, TypeError or SyntaxError if the source cannot be read, or is not a definition by `def`.
    """
    if function in _trees:
        return _trees[function]
    lines, first_line = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{function} is not made with def")
    return tree, first_line


def names_around(function: Any) -> dict[str, Any]:
    """The values of the names that a function finds in its module and in the functions around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def widened(value: Any, num_parts: int) -> Any:
    """What replaces a rule, a position, its class, a constant, or a tuple of these, so that words have at least this
    number of parts.

    Rules whose source cannot be read keep their own constants; anything else stays as it is.
    """
    if isinstance(value, PositionClass):
        return with_wide_boards(value, num_parts)
    if isinstance(of := type(value), PositionClass):
        return widened(of, num_parts)(*value)
    if isinstance(value, tuple):
        made = _all_widened(list(value), num_parts)
        return value._make(made) if hasattr(value, "_make") else tuple(made)
    if _is_wide(value):
        return WordInt(value, max(num_parts, getattr(value, "num_parts", 1)))
    is_rule = isinstance(value, FunctionType) and value in RULES and value.__module__ != bit_count.__module__
    return _copy(value, num_parts) if is_rule else value


def _is_wide(value: Any) -> bool:
    """Whether a constant must be a word: it is one, or a number that does not fit in 64 bits."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, WordInt) or (is_number and not -LARGEST - 1 <= value <= LARGEST)


def _all_widened(values: list[Any], num_parts: int) -> list[Any]:
    """Values that are of one kind, such as the entries of a table, stay of one kind."""
    if all(type(value) in (int, WordInt) for value in values):
        return [WordInt(value, num_parts) for value in values] if any(map(_is_wide, values)) else values
    if all(type(value) is tuple for value in values) and len(set(map(len, values))) == 1:
        columns = [_all_widened(list(column), num_parts) for column in zip(*values, strict=True)]
        return list(zip(*columns, strict=True)) if columns else values
    return [widened(value, num_parts) for value in values]


def _copy(function: Any, num_parts: int) -> Any:
    if (function, num_parts) in _copies:
        return _copies[function, num_parts]
    outer, changed = names_around(function), _WideConstants(function, num_parts)
    code: CodeType = function.__code__
    with suppress(OSError, TypeError, SyntaxError):
        tree, first_line = source_tree(function)
        tree = changed.visit(deepcopy(tree))
        if changed.words:
            code = _code_of(tree, first_line, code)
    names: dict[str, Any] = function.__globals__ | changed.words
    cells = {name: CellType() for name in code.co_freevars}
    copy = FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells.values()))
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    copy.__qualname__ = f"{function.__qualname__}_of_{num_parts}"
    if changed.words:
        _trees[copy] = tree, first_line
    # Before what it refers to is widened, which may be the function itself.
    _copies[function, num_parts] = copy
    names |= {name: widened(names[name], num_parts) for name in code.co_names if name in names}
    for name, cell in cells.items():
        cell.cell_contents = widened(outer[name], num_parts)
    return rule(copy)


class _WideConstants(ast.NodeTransformer):
    """Replaces constants that are shifted or do not fit in 64 bits by names of words."""

    def __init__(self, function: Any, num_parts: int) -> None:
        self.words = dict[str, WordInt]()
        self._num_parts, self._outer = num_parts, names_around(function)
        self._local = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.LShift):
            match node.left:
                case ast.Constant(value=value):
                    node.left = self._word(node.left, value)
                case ast.Name(id=name) if name not in self._local:
                    node.left = self._word(node.left, self._outer.get(name))
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return self._word(node, node.value) if _is_wide(node.value) else node

    def _word(self, node: ast.expr, value: Any) -> ast.expr:
        if type(value) is not int:
            return node
        name = f"word {value}"
        self.words[name] = WordInt(value, self._num_parts)
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _code_of(tree: ast.FunctionDef, first_line: int, code: CodeType) -> CodeType:
    """The code of a changed function, with the lines of the file and the free names of its own code."""
    definition = deepcopy(tree)
    ast.increment_lineno(definition, first_line - 1)
    arguments = definition.args
    definition.decorator_list, definition.returns, arguments.defaults, arguments.kw_defaults = [], None, [], []
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    around = ast.parse(f"def around({', '.join(code.co_freevars)}): pass")
    (outer,) = around.body
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [definition]
    found: Any = compile(ast.fix_missing_locations(around), code.co_filename, "exec", dont_inherit=True)
    for _ in range(2):
        found = next(constant for constant in found.co_consts if isinstance(constant, CodeType))
    assert isinstance(found, CodeType)
    return found
