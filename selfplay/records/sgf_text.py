"""The texts of SGF: where each match of a collection begins and ends, the properties of its main line, and what the
values of properties mean in the files of different programs.

sgfmill reads the form of one match. It refuses a whole collection for one bracket too few or too many, so the matches
are found here. All expressions here are linear: what they repeat is possessive or ends at the first other character.
"""

import re
from collections.abc import Iterator
from math import copysign, nan
from typing import Any, NamedTuple

from sgfmill.sgf_grammar import main_sequence_iter, parse_sgf_game, text_value

from selfplay.errors import IllegalActionError, shortened
from selfplay.records import RecordedResult

TREE = re.compile(r"\(\s*+;")
ROOT = re.compile(r"\(\s*+;\s*+(?:GM|FF|CA|AP|SZ)\[")
"""The start of a match inside another one that was not ended: only the first node of a match has these properties."""
SIGN = re.compile(r"\[(?:[^\]\\]++|\\.)*+(?:(\])|\\?\Z)|[()]", re.DOTALL)
"""A value, whose brackets do not count, with its end in a group, or a bracket of a tree."""
SWALLOWED = re.compile(r"\(\s*+;\s*+(?:GM|FF|CA|AP|SZ)\[[^\]\[\\]*+\]\Z")
"""The start of the next match at the end of a value that was not ended."""
CONTINUED = re.compile(r"\s*+;\s*+[A-Za-z]++\s*+\[")
"""More of a match behind a bracket that ends it too early."""
MOST_CHARACTERS = 1 << 24
"""The longest match that is read."""

Node = dict[str, list[bytes]]
"""The properties of a node, with their values as they are written."""


def has_tree(text: str) -> bool:
    """Whether a match in SGF or GGF begins somewhere in a text."""
    return re.search(r"\(\s*+;\s*+[A-Za-z]++\s*+\[", text) is not None


def split_matches(text: str) -> list[str]:
    """The text of each match of a collection. What stands between matches is left out, brackets that are missing at
    the end of one are added. A match that continues after its last bracket loses it, so that it is broken."""
    matches, place = list[str](), 0
    while found := TREE.search(text, place):
        match, place = _match_at(text, found.start())
        matches.append(match[:-1] if CONTINUED.match(text, place) else match)
    return matches


def _match_at(text: str, first: int) -> tuple[str, int]:
    """The match that begins at a place, with all its brackets, and the place after it."""
    depth, place = 1, first + 1
    while sign := SIGN.search(text, place):
        found, place = sign[0], sign.end()
        if found == "(":
            if ROOT.match(text, sign.start()):
                return text[first : sign.start()] + ")" * depth, sign.start()
            depth += 1
        elif found == ")":
            depth -= 1
            if not depth:
                return text[first:place], place
        elif swallowed := _swallowed(found):
            return text[first : sign.start() + swallowed] + "]" + ")" * depth, sign.start() + swallowed
        elif sign[1] is None:
            return text[first:].rstrip("\\") + "]" + ")" * depth, len(text)
    return text[first:] + ")" * depth, len(text)


def _swallowed(value: str) -> int:
    """Where the next match begins in a value that was not ended; 0 in others."""
    found = SWALLOWED.match(value, max(value.rfind("("), 0))
    return found.start() if found else 0


def main_line(text: str) -> tuple[list[Node], int]:
    """The properties of each node of the main line of one match, and the number of other lines.

    Raises IllegalActionError.
    """
    if len(text) > MOST_CHARACTERS:
        raise IllegalActionError(f"the match has {len(text):,} characters, more than {MOST_CHARACTERS:,}")
    try:
        tree = parse_sgf_game(text.encode("utf-8", errors="replace"))
        return list(main_sequence_iter(tree)), _variations(tree)
    except ValueError as error:
        raise IllegalActionError(f"this is not a match in SGF: {error}") from error


def _variations(tree: Any) -> int:
    """The number of lines of a tree besides the main one."""
    count, trees = 0, [tree]
    while trees:
        children = trees.pop().children
        count += max(0, len(children) - 1)
        trees += children
    return count


def property_text(node: Node, name: str) -> str:
    """A property as text, without escapes; empty without it. Raises IllegalActionError if it has different values."""
    texts = [text_value(value).decode() for value in node.get(name, ())]
    if len(set(texts)) > 1 and name != "C":
        raise IllegalActionError(f"{name} has several values, {shortened(', '.join(texts))}")
    return "\n".join(dict.fromkeys(texts))


# ---------------------------------------------------------------------- the komi

NUMBER = re.compile(r"[+-]?(?:\d++(?:[.,]\d++)?|[.,]\d++)")
GOES_ON = re.compile(r"[eEx][+-]?\d|[.,:;/+-]\d|\s*+(?:[½¼¾/又]|\d++\s*+/)")
"""Follows the beginning of what is another number, such as 1e1, 6.5.5 and 6 1/2."""
MOST_STONES = 5
"""No komi in stones is as large; one in points may be."""
HUNDREDTHS = "foxwq"
"""A program that writes whole numbers as hundredths."""
AND_A_HALF = r"目\s?半|집\s?반"
"""The units of a number of points to which half a point is added."""


def komi_of(text: str, application: str) -> float | None:
    """The komi in points; None if it is not known. 6.5, 6,5, 6.5目 and 6目半; as programs from China write it, in
    hundredths (650, and 375 of stones) and in stones, which count two points each (3.75). What follows the number, such
    as its unit, must not make it another number."""
    found = NUMBER.match(text)
    if found is None or GOES_ON.match(text, found.end()):
        return None
    unit = "".join(text[found.end() :].split())
    komi = float(found[0].replace(",", "."))
    if re.fullmatch(AND_A_HALF, unit):
        komi += copysign(0.5, komi)
    if abs(komi) >= 100 or (HUNDREDTHS in application.lower() and komi == int(komi)):
        komi /= 100
    return 2 * komi if 4 * komi % 2 == 1 and abs(komi) < MOST_STONES else komi


# ---------------------------------------------------------------------- the result

DRAWN = re.compile("0|drawn?|tie|jigo|ジゴ|引き?分け?|和[棋局]?|平局|持[碁棋]|무승부|빅", re.IGNORECASE)
COLOUR = re.compile(r"(?<![a-z])(b(?:lack)?|w(?:hite)?|[黑黒흑白백])(?![a-z])", re.IGNORECASE)
WON = re.compile(r"\+|\A[bw]\Z|\bwins?\b|\bwon\b|[胜勝赢贏]|(?<!무)승", re.IGNORECASE)
LOST = re.compile(r"\b(?:resign(?:s|ed)|los(?:es|t)|forfeit(?:s|ed))\b|[负負敗败]|패", re.IGNORECASE)
REASONS = {
    "R": re.compile(r"\+\s*r|resign|中[盘盤押]|投了|認输|认输|불계", re.IGNORECASE),
    "T": re.compile(r"\+\s*t|time|超时|超時|時間|시간", re.IGNORECASE),
    "F": re.compile(r"\+\s*f|forfeit|기권", re.IGNORECASE),
}
HALF_A_POINT = re.compile("半目|반집")
POINTS = re.compile(rf"\D*?(?<![.,])(\d++(?:[.,]\d++)?|[.,]\d++)({AND_A_HALF})?+(?!{GOES_ON.pattern}|\s*+子)")
"""The first number of a result, if it is one of points: not 3又3/4子 and 3.5.5."""


def result_of_text(text: str) -> RecordedResult | None:
    """The result of a match: B+3.5, W+R, B+, B, Black wins by resignation, White resigns, 0, Jigo; None if it is not
    known, such as ? or Void."""
    said = text.strip()
    if DRAWN.fullmatch(said):
        return RecordedResult(0)
    won, lost = WON.search(said), LOST.search(said)
    if not (won or (lost and len(COLOUR.findall(said)) == 1)) or COLOUR.match(said) is None:
        return None
    # Black resigned, White wins: the winner stands next to the word.
    *_, named = COLOUR.finditer(said[: won.end()] if won else said)
    returned = 1 if (named[1][0].lower() in "b黑黒흑") == bool(won) else -1
    for reason, expression in REASONS.items():
        if expression.search(said):
            return RecordedResult(returned, reason)
    points = POINTS.match(HALF_A_POINT.sub("0.5", said))
    number = 0.0 if points is None else float(points[1].replace(",", ".")) + (0.5 if points[2] else 0)
    return RecordedResult(returned, f"{number:g}" if points else "")


def lead_in_result(result: RecordedResult) -> float:
    """The lead of player 0; nan if it is not known."""
    if result.returned == 0:
        return 0.0
    return result.returned * float(result.by) if NUMBER.fullmatch(result.by) else nan


# ---------------------------------------------------------------------- moves


class Play(NamedTuple):
    """One move of the main line."""

    node: int
    seat: int
    point: str


SEATS = {"B": 0, "W": 1}


def plays(nodes: list[Node]) -> Iterator[Play]:
    """The moves in their order. Raises IllegalActionError if a colour has two moves in one node."""
    for number, node in enumerate(nodes):
        for name, values in node.items():
            if name in SEATS:
                if len(values) > 1:
                    raise IllegalActionError(f"node {number} has {len(values)} moves of {name}")
                yield Play(number, SEATS[name], values[0].decode().strip())
