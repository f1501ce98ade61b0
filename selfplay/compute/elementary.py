"""Exponential, logarithm, cosine and hyperbolic tangent that give the same bits on every processor.

Those of the C library and of numpy choose among variants by what the processor offers, and the variants differ in the
last bit. Here they are made of additions, multiplications and divisions alone, each of which IEEE 754 defines exactly,
in a fixed order. They differ from the exact values by a few units in the last place.

They run compiled, where compilers may not contract a product and a sum into one operation, and on single numbers in
Python.
"""

import math

from selfplay.compute.bit_algebra import rule

LN2_HIGH = math.ldexp(round(math.ldexp(math.log(2), 32)), -32)
"""The upper bits of ln 2: its product with an integer below 2**20 is exact."""
LN2_LOW = -4.2009150726810846e-11
"""ln 2 - LN2_HIGH, rounded."""
QUARTER_HIGH = math.ldexp(round(math.ldexp(math.pi / 2, 32)), -32)
QUARTER_LOW = 6.077100506506192e-11
"""pi / 2 - QUARTER_HIGH, rounded."""

LARGEST_EXPONENT = 709.782712893384
"""The logarithm of the largest float64."""
SMALLEST_EXPONENT = -745.1332191019412
ONE_FROM = 20.0
"""From here on the hyperbolic tangent rounds to 1."""

EXPONENTIAL = tuple(1.0 / math.factorial(n) for n in range(14, 0, -1))
"""The coefficients of (exp(x) - 1) / x, the highest power first; the rest is below 2**-58 for |x| <= ln(2) / 2."""
LOGARITHM = tuple(2.0 / n for n in range(21, 0, -2))
"""The coefficients of log((1 + s) / (1 - s)) / s in s * s; the rest is below 2**-58 for |s| <= 3 - 2 * sqrt(2)."""
COSINE = tuple((-1) ** (n // 2) / math.factorial(n) for n in range(18, -1, -2))
SINE = tuple((-1) ** (n // 2) / math.factorial(n) for n in range(17, 0, -2))


@rule
def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    """The polynomial with these coefficients, the highest power first."""
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


@rule
def exponential(x: float) -> float:
    """e ** x."""
    if not x <= LARGEST_EXPONENT:
        return x * math.inf if x > 0.0 else x  # infinity; nan for nan
    if x < SMALLEST_EXPONENT:
        return 0.0
    power = math.floor(x / LN2_HIGH + 0.5)
    rest = (x - power * LN2_HIGH) - power * LN2_LOW
    return math.ldexp(1.0 + rest * _polynomial(EXPONENTIAL, rest), int(power))


@rule
def logarithm(x: float) -> float:
    """The natural logarithm of x: -infinity for 0, nan below."""
    if not 0.0 < x < math.inf:
        return x if x > 0.0 or x != x else (-math.inf if x == 0.0 else math.nan)
    fraction, power = math.frexp(x)
    if fraction < 0.7071067811865476:
        fraction, power = 2.0 * fraction, power - 1
    s = (fraction - 1.0) / (fraction + 1.0)
    return power * LN2_HIGH + (power * LN2_LOW + s * _polynomial(LOGARITHM, s * s))


@rule
def cosine(x: float) -> float:
    """The cosine of x, for |x| up to 1,000,000."""
    quarters = math.floor(abs(x) / QUARTER_HIGH + 0.5)
    rest = (abs(x) - quarters * QUARTER_HIGH) - quarters * QUARTER_LOW
    turn = int(quarters) % 4
    square = rest * rest
    value = _polynomial(COSINE, square) if turn % 2 == 0 else rest * _polynomial(SINE, square)
    return value if turn in (0, 3) else -value


@rule
def hyperbolic_tangent(x: float) -> float:
    """(exp(2x) - 1) / (exp(2x) + 1)."""
    size = 2.0 * abs(x)
    if size > 2.0 * ONE_FROM:
        value = 1.0
    else:
        # Near 0 the difference of exp and 1 would lose digits.
        above_1 = size * _polynomial(EXPONENTIAL, size) if size < 0.35 else exponential(size) - 1.0
        value = above_1 / (above_1 + 2.0)
    return value if x >= 0.0 else (-value if x < 0.0 else x)


def power(number: float, exponent: int) -> float:
    """number ** exponent, as a product from left to right. `exponent`: 0 or more."""
    return math.prod([number] * exponent, start=1.0)


@rule
def tangent(x: float, is_portable: bool) -> float:
    """The hyperbolic tangent: that of this module, or of the C library, which takes half of the time."""
    return hyperbolic_tangent(x) if is_portable else math.tanh(x)
