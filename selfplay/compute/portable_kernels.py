"""Compiled arithmetic of networks in a fixed order, by operations that IEEE 754 defines exactly; see `portable`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import compiled
from selfplay.compute.elementary import cosine, exponential, hyperbolic_tangent, logarithm


@compiled
def multiply(left: NDArray[Any], right: NDArray[Any], product: NDArray[Any]) -> None:
    """product = left @ right: each entry the sum of its products, added in order of the inner index, from 0.

    Four products are added to a whole row at a time, which compilers turn into vector instructions.

    Args:
        left, right, product: of one floating type, [M, K], [K, N] and [M, N]; the last two in C order.
    """
    inner = left.shape[1]
    whole = inner - inner % 4
    for i in range(left.shape[0]):
        row, factors = product[i], left[i]
        row[:] = 0
        for k in range(0, whole, 4):
            a, b, c, d = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
            first, second, third, fourth = right[k], right[k + 1], right[k + 2], right[k + 3]
            for j in range(right.shape[1]):
                row[j] = (((row[j] + a * first[j]) + b * second[j]) + c * third[j]) + d * fourth[j]
        for k in range(whole, inner):
            a, first = factors[k], right[k]
            for j in range(right.shape[1]):
                row[j] += a * first[j]


@compiled
def copy_patches(
    images: NDArray[Any], patches: NDArray[Any], down: int, right: int, row_gap: int, column_gap: int
) -> None:
    """Copy what a kernel covers of images [N, C, H, W] in each place to patches [N, I, J, C, rows, columns].

    `down`, `right`: from place to place; `row_gap`, `column_gap`: between the pixels that it covers.
    """
    count, place_rows, place_columns, channels, rows, columns = patches.shape
    for n in range(count):
        for i in range(place_rows):
            for j in range(place_columns):
                for channel in range(channels):
                    for row in range(rows):
                        for column in range(columns):
                            y, x = down * i + row_gap * row, right * j + column_gap * column
                            patches[n, i, j, channel, row, column] = images[n, channel, y, x]


@compiled
def add_patches(
    patches: NDArray[Any], images: NDArray[Any], down: int, right: int, row_gap: int, column_gap: int
) -> None:
    """Add the patches to the pixels that they were copied from by `copy_patches`, in order of the places in a patch."""
    count, place_rows, place_columns, channels, rows, columns = patches.shape
    for n in range(count):
        for row in range(rows):
            for column in range(columns):
                for i in range(place_rows):
                    for j in range(place_columns):
                        y, x = down * i + row_gap * row, right * j + column_gap * column
                        for channel in range(channels):
                            images[n, channel, y, x] += patches[n, i, j, channel, row, column]


@compiled
def write_hyperbolic_tangents(numbers: NDArray[np.float32], results: NDArray[np.float32]) -> None:
    for i in range(len(numbers)):
        results[i] = hyperbolic_tangent(numbers[i])


@compiled
def write_log_softmax(logits: NDArray[Any], results: NDArray[Any]) -> None:
    """results = logits - log(sum of exp(logits)) of each row."""
    for i in range(len(logits)):
        largest, total = logits[i].max(), 0.0
        for logit in logits[i]:
            total += exponential(float(logit) - largest)
        for j in range(logits.shape[1]):
            results[i, j] = (float(logits[i, j]) - largest) - logarithm(total)


@compiled
def write_exponentials(numbers: NDArray[Any], results: NDArray[Any]) -> None:
    for i in range(len(numbers)):
        results[i] = exponential(numbers[i])


@compiled
def write_normal_numbers(first: NDArray[np.float64], second: NDArray[np.float64], results: NDArray[Any]) -> None:
    """Standard normal numbers from uniform ones in [0, 1) (Box & Muller, 1958)."""
    for i in range(len(first)):
        results[i] = np.sqrt(-2.0 * logarithm(1.0 - first[i])) * cosine(2.0 * np.pi * second[i])


@compiled
def take_adam_step(
    weights: NDArray[np.float32],
    gradient: NDArray[np.float32],
    first_moment: NDArray[np.float32],
    second_moment: NDArray[np.float32],
    rates: NDArray[np.float32],
) -> None:
    """One step of Adam for all weights.

    `rates`: the step size, the root of the correction of the second moment, beta1, 1 - beta1, beta2, 1 - beta2,
    epsilon, the decay that is added to the gradient, and the factor of decoupled decay.
    """
    size, root, beta1, rest1, beta2, rest2, epsilon, decay, kept = rates
    for i in range(len(weights)):
        weight = weights[i] * kept
        slope = gradient[i] + decay * weight
        first_moment[i] = beta1 * first_moment[i] + rest1 * slope
        second_moment[i] = beta2 * second_moment[i] + rest2 * (slope * slope)
        weights[i] = weight - size * (first_moment[i] / (np.sqrt(second_moment[i]) / root + epsilon))
