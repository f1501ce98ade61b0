"""A simulated GPU: tensors that report another device and are stored in the memory of the CPU.

Within `pretended_gpu()` whatever is made there, or moved there, is such a tensor. Operations on them have the results
that the CPU gives, but refuse what a GPU refuses: tensors of both devices in one operation, and numpy on its memory.
The device is torch's meta, the only one beside the CPU that every torch knows; nothing else uses it.
"""

from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from selfplay.compute import devices
from selfplay.players import value_net

GPU = "meta"
COPIES = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}
INDEXING = {torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default, torch.ops.aten.index_put.default}
SET_DATA = torch.Tensor.data.__set__


class OnGPU(torch.Tensor):
    """A tensor that reports the GPU as its device."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=GPU,
            requires_grad=inner.requires_grad,
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            result = function(*args, **(kwargs or {}))
        if function == SET_DATA:
            args[0].inner = args[1].inner
        return result

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return computed(function, args, kwargs or {})


class Pretending(TorchDispatchMode):
    """Creates such tensors where that device is requested."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # nothing is compiled here, and guarding against it takes most of the time

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return computed(function, args, kwargs or {})


class Literals(TorchFunctionMode):
    """Moves the result of torch.tensor to the device, because no dispatch mode sees its creation."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function is not torch.tensor or str(kwargs.get("device")) != GPU:
            return function(*args, **kwargs)
        return function(*args, **{**kwargs, "device": "cpu"}).to(GPU)


def computed(function, args, kwargs):
    """The result of a torch operation, on the right device."""
    tensors = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, OnGPU)]
    asked = kwargs.get("device")
    if there and function not in COPIES:
        # A scalar may be combined with GPU tensors, and GPU rows may be indexed by CPU indices.
        here = [tensor for tensor in tensors if not isinstance(tensor, OnGPU) and tensor.dim() > 0]
        assert not here or (function in INDEXING and isinstance(args[0], OnGPU)), f"{function} mixes devices"
    on_gpu = isinstance(args[0], OnGPU) if function == torch.ops.aten.copy_.default else bool(there)
    if asked is not None:
        on_gpu = torch.device(asked).type == GPU
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inside = tree_map(lambda leaf: leaf.inner if isinstance(leaf, OnGPU) else leaf, (args, kwargs))
    result = function(*inside[0], **inside[1])
    if not on_gpu:
        return result
    # A tensor that an operation modifies and returns stays the same object.
    same = {id(tensor.inner): tensor for tensor in there}
    return tree_map(
        lambda leaf: same[id(leaf)] if id(leaf) in same else OnGPU(leaf) if is_plain(leaf) else leaf, result
    )


def is_plain(leaf):
    return isinstance(leaf, torch.Tensor) and not isinstance(leaf, OnGPU)


@contextmanager
def pretended_gpu():
    """A GPU with 8 GiB of free memory, which device=auto finds. Networks evaluate blocks of the CPU's size."""
    free = (8 << 30, 8 << 30)
    with (
        patch.multiple(torch.cuda, is_available=lambda: True, mem_get_info=lambda: free),
        patch.multiple(torch.cuda, memory_reserved=lambda: 0, memory_allocated=lambda: 0),
        # A build of torch with CUDA would look for the driver of a GPU that it believes to be there.
        patch.object(torch.accelerator, "current_accelerator", lambda check_available=False: None),
        patch.object(devices, "CUDA", GPU),
        patch.object(torch, "inference_mode", torch.no_grad),  # it does not support tensor subclasses
        patch.object(value_net, "EVALUATION_BLOCK_ON_GPU", value_net.EVALUATION_BLOCK),
        Pretending(),
        Literals(),
    ):
        yield
