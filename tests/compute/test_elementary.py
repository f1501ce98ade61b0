"""Elementary functions that are the same on every processor: near the exact values, compiled as in Python."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from selfplay.compute.compilation import compiled
from selfplay.compute.elementary import cosine, exponential, hyperbolic_tangent, logarithm, power, tangent

DIGITS = 60
ULPS = 5


def exact_exponential(x: float) -> Decimal:
    return Decimal(x).exp()


def exact_logarithm(x: float) -> Decimal:
    return Decimal(x).ln()


def exact_hyperbolic_tangent(x: float) -> Decimal:
    square = Decimal(2 * x).exp()
    return (square - 1) / (square + 1)


def exact_cosine(x: float) -> Decimal:
    """By its power series."""
    term = total = Fraction(1)
    for n in range(2, 120, 2):
        term = -term * Fraction(x) ** 2 / (n * (n - 1))
        total += term
    return Decimal(total.numerator) / Decimal(total.denominator)


@compiled
def exponentials(numbers: NDArray[np.float64], results: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        results[i] = exponential(numbers[i])


@compiled
def logarithms(numbers: NDArray[np.float64], results: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        results[i] = logarithm(numbers[i])


@compiled
def cosines(numbers: NDArray[np.float64], results: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        results[i] = cosine(numbers[i])


@compiled
def tangents(numbers: NDArray[np.float64], results: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        results[i] = hyperbolic_tangent(numbers[i])


draws = np.random.default_rng(0)
SMALL, LARGE = draws.standard_normal(300), draws.standard_normal(300) * 30
CASES = {
    "exponential": (exponential, exact_exponential, exponentials, np.concatenate([SMALL / 1000, SMALL, LARGE])),
    "logarithm": (logarithm, exact_logarithm, logarithms, np.concatenate([1 + SMALL / 100, np.exp(LARGE)])),
    "hyperbolic_tangent": (hyperbolic_tangent, exact_hyperbolic_tangent, tangents, np.append(SMALL / 1000, SMALL)),
    "cosine": (cosine, exact_cosine, cosines, draws.uniform(-20, 20, 300)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_within_a_few_units_in_the_last_place(name: str) -> None:
    function, exact, _, numbers = CASES[name]
    with localcontext() as context:
        context.prec = DIGITS
        for number in numbers.tolist():
            value, truth = function(number), exact(number)
            assert abs(Decimal(value) - truth) <= ULPS * Decimal(math.ulp(float(truth))), number


@pytest.mark.parametrize("name", CASES)
def test_compiled_values_are_those_of_python(name: str) -> None:
    function: Callable[[float], float]
    function, _, write, numbers = CASES[name]
    results = np.empty_like(numbers)
    write(numbers, results)
    assert results.tolist() == [function(number) for number in numbers.tolist()]


def test_values_at_the_ends_of_the_range() -> None:
    inf, nan = math.inf, math.nan
    assert [exponential(x) for x in (-inf, -746.0, 0.0, 710.0, inf)] == [0.0, 0.0, 1.0, inf, inf]
    assert [logarithm(x) for x in (0.0, 1.0, inf)] == [-inf, 0.0, inf]
    assert [hyperbolic_tangent(x) for x in (-inf, -21.0, 0.0, 21.0, inf)] == [-1.0, -1.0, 0.0, 1.0, 1.0]
    assert logarithm(5e-324) == pytest.approx(math.log(5e-324), rel=1e-15)
    assert all(map(math.isnan, [exponential(nan), logarithm(nan), logarithm(-1.0), hyperbolic_tangent(nan)]))


def test_a_table_may_have_the_tangent_of_the_c_library() -> None:
    assert tangent(0.3, False) == math.tanh(0.3)
    assert tangent(0.3, True) == hyperbolic_tangent(0.3)


def test_powers_are_products_from_left_to_right() -> None:
    assert [power(0.9, exponent) for exponent in range(4)] == [1.0, 0.9, 0.9 * 0.9, 0.9 * 0.9 * 0.9]
