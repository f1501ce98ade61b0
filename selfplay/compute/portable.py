"""Arithmetic of networks that gives the same bits on every processor, with any number of threads.

torch leaves matrix products, convolutions, sums and functions such as the square root to libraries that choose their
instructions, and with them the order of sums and the last bit, by the processor. While `PortableArithmetic` is active,
the functions that networks and their losses are made of compute in a fixed order instead, by operations that IEEE 754
defines exactly:

    set_numerics(network, PORTABLE)
    with arithmetic_of(network):
        loss = (network(observations).value - targets).square().mean()
    loss.backward()

Additions, products, comparisons, ReLU and copies of torch are exact by themselves. Other functions are not portable:
they compute as torch does. Tensors on a GPU are computed there, by torch.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from selfplay.compute.compilation import require_compiled
from selfplay.compute.devices import CPU, NATIVE, PORTABLE
from selfplay.compute.portable_kernels import (
    add_patches,
    copy_patches,
    multiply,
    write_exponentials,
    write_hyperbolic_tangents,
    write_log_softmax,
    write_normal_numbers,
)

# ---------------------------------------------------------------------- with gradients


def product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right, without a gradient. Two matrices of one floating type."""
    result = left.new_empty(left.shape[0], right.shape[1])
    multiply(left.detach().numpy(), right.detach().contiguous().numpy(), result.numpy())
    return result


class Linear(torch.autograd.Function):
    """inputs @ weight.T + bias: [N, I], [O, I] and [O] or None to [N, O]."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        context.save_for_backward(inputs, weight)
        outputs: Tensor = product(inputs, weight.t())
        if bias is not None:
            added = outputs.numpy()
            np.add(added, bias.detach().numpy(), out=added)
        return outputs

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        inputs, weight = context.saved_tensors
        (gradient,) = gradients
        needs_inputs, needs_weight, needs_bias = context.needs_input_grad
        return (
            product(gradient, weight) if needs_inputs else None,
            product(gradient.t(), inputs) if needs_weight else None,
            product(gradient.new_ones(1, len(gradient)), gradient)[0] if needs_bias else None,
        )


Pair = tuple[int, int]
"""Of rows and columns."""


class Patches(torch.autograd.Function):
    """The parts of images that a kernel of this size covers: [N, C, H, W] to [N, I, J, C, *size].

    Compiled, because `unfold` and `fold` of torch start all threads for each image, however small it is.
    """

    @staticmethod
    def forward(context: Any, images: Tensor, size: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Tensor:
        (above, left), shape = padding, images.shape
        padded = images.new_zeros(*shape[:2], shape[2] + 2 * above, shape[3] + 2 * left)
        inner = (..., slice(above, above + shape[2]), slice(left, left + shape[3]))
        padded[inner] = images
        places = [
            (length - gap * (covered - 1) - 1) // step + 1
            for length, covered, step, gap in zip(padded.shape[2:], size, stride, dilation, strict=True)
        ]
        patches = images.new_empty(shape[0], *places, shape[1], *size)
        copy_patches(padded.numpy(), patches.numpy(), *stride, *dilation)
        context.geometry = padded.shape, inner, *stride, *dilation
        return patches

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        (gradient,), (shape, inner, *steps) = gradients, context.geometry
        padded = gradient.new_zeros(shape)
        add_patches(gradient.contiguous().numpy(), padded.numpy(), *steps)
        return padded[inner], None, None, None, None


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, numbers: Tensor) -> Tensor:
        results: Tensor = torch.empty_like(numbers, memory_format=torch.contiguous_format)
        write_hyperbolic_tangents(numbers.detach().reshape(-1).numpy(), results.view(-1).numpy())
        context.save_for_backward(results)
        return results

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:
        (results,) = context.saved_tensors
        slopes: Tensor = 1 - results * results
        return gradients[0] * slopes


class LogSoftmax(torch.autograd.Function):
    """[N, A] to [N, A]: the logarithm of the softmax of each row."""

    @staticmethod
    def forward(context: Any, logits: Tensor) -> Tensor:
        results = torch.empty_like(logits, memory_format=torch.contiguous_format)
        write_log_softmax(logits.detach().contiguous().numpy(), results.numpy())
        context.save_for_backward(results)
        return results

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:
        (results,), (gradient,) = context.saved_tensors, gradients
        shares = torch.empty_like(results)
        write_exponentials(results.view(-1).numpy(), shares.view(-1).numpy())
        return gradient - shares * product(gradient, gradient.new_ones(gradient.shape[1], 1))


# ---------------------------------------------------------------------- in place of torch's


def linear(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows = inputs.reshape(math.prod(inputs.shape[:-1]), inputs.shape[-1])
    outputs: Tensor = Linear.apply(rows, weight, bias)  # type: ignore[no-untyped-call]
    return outputs.reshape(*inputs.shape[:-1], len(weight))


def conv2d(
    inputs: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    if groups != 1 or isinstance(padding, str):
        raise NotImplementedError("portable arithmetic has no convolutions in groups, or with a named padding")
    pairs = ((one, one) if isinstance(one, int) else tuple(one) for one in (stride, padding, dilation))
    patches: Tensor = Patches.apply(inputs, tuple(weight.shape[2:]), *pairs)  # type: ignore[no-untyped-call]
    return linear(patches.flatten(3), weight.flatten(1), bias).permute(0, 3, 1, 2)


def tanh(numbers: Tensor) -> Tensor:
    result: Tensor = Tanh.apply(numbers)  # type: ignore[no-untyped-call]
    return result


def log_softmax(logits: Tensor, dim: int | None = None, *_: Any, **__: Any) -> Tensor:
    if logits.ndim != 2 or dim not in (1, -1):
        raise NotImplementedError("portable arithmetic has log_softmax only over the rows of a matrix")
    result: Tensor = LogSoftmax.apply(logits)  # type: ignore[no-untyped-call]
    return result


def total(numbers: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The sum of floating numbers, of all or along a dimension, added in their order; integers as torch does."""
    if not numbers.is_floating_point():
        return numbers.sum() if dim is None else numbers.sum(dim, keepdim)
    if dim is None:
        return linear(numbers.reshape(1, numbers.numel()), numbers.new_ones(1, numbers.numel())).reshape(())
    if not isinstance(dim, int):
        raise NotImplementedError("portable arithmetic has sums of all numbers, or along one dimension")
    sums = linear(numbers.movedim(dim, -1), numbers.new_ones(1, numbers.shape[dim])).squeeze(-1)
    return sums.unsqueeze(dim) if keepdim else sums


def mean(numbers: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return total(numbers, dim, keepdim) / (numbers.numel() if dim is None else numbers.shape[dim])


def embedding_bag(indices: Tensor, weight: Tensor, *_: Any, mode: str = "mean", **__: Any) -> Tensor:
    """[N, I] and [E, 1] to [N, 1]: the sum of the weights with these indices."""
    if mode != "sum" or weight.shape[1] != 1:
        raise NotImplementedError("portable arithmetic has embedding_bag only for sums of single weights")
    return total(weight.reshape(-1)[indices], -1, keepdim=True)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
    with torch.no_grad():
        return tensor.copy_(torch.rand(tensor.shape, generator=generator) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
    numbers = torch.rand(2, tensor.numel(), generator=generator, dtype=torch.float64).numpy()
    results = torch.empty(tensor.shape)
    write_normal_numbers(numbers[0], numbers[1], results.view(-1).numpy())
    with torch.no_grad():
        return tensor.copy_(results * std + mean)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: torch.Generator | None = None,
) -> Tensor:
    """Initial weights by He et al., "Delving deep into rectifiers", 2015."""
    if mode != "fan_in":
        raise NotImplementedError("portable arithmetic initializes weights only by their number of inputs")
    gain: float = nn.init.calculate_gain(nonlinearity, a)  # type: ignore[arg-type]
    bound = math.sqrt(3.0) * gain / math.sqrt(tensor[0].numel())
    return uniform_(tensor, -bound, bound, generator)


IN_PLACE: Mapping[Callable[..., Any], Callable[..., Any]] = {
    functional.linear: linear,
    functional.conv2d: conv2d,
    functional.embedding_bag: embedding_bag,
    **dict.fromkeys((torch.tanh, Tensor.tanh), tanh),
    **dict.fromkeys((torch.log_softmax, Tensor.log_softmax, functional.log_softmax), log_softmax),
    **dict.fromkeys((torch.sum, Tensor.sum), total),
    **dict.fromkeys((torch.mean, Tensor.mean), mean),
    **dict.fromkeys((nn.init.uniform_, Tensor.uniform_), uniform_),
    **dict.fromkeys((nn.init.normal_, Tensor.normal_), normal_),
    nn.init.kaiming_uniform_: kaiming_uniform_,
}
"""The functions of torch that are replaced while `PortableArithmetic` is active."""


class PortableArithmetic(TorchFunctionMode):
    """A context in which the functions of torch in IN_PLACE are replaced, for tensors on the CPU.

    Initial weights are replaced too, because torch scales them in one or two roundings. A function that is replaced
    raises NotImplementedError for arguments that no network of this program has.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return IN_PLACE.get(func, func)(*args, **(kwargs or {}))


def set_numerics(network: nn.Module, numerics: str) -> None:
    """Let a network compute in one of the ways in NUMERICS while it is on the CPU."""
    network.numerics = numerics  # type: ignore[assignment]


def is_portable(network: nn.Module) -> bool:
    """Whether the network computes by this module while it is on the CPU."""
    return getattr(network, "numerics", NATIVE) == PORTABLE


def arithmetic_of(network: nn.Module) -> AbstractContextManager[object]:
    """The context in which the network, and losses of its outputs, are computed."""
    device = next((parameter.device.type for parameter in network.parameters()), CPU)
    if not is_portable(network) or device != CPU:
        return nullcontext()
    require_compiled("networks with numerics=portable")
    return PortableArithmetic()
