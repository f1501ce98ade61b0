"""Conversion of columns between Arrow and NumPy without pandas.

Arrow's own conversions (`pa.array`, `to_numpy`) import pandas if it is installed, which takes 150 ms: longer than the
conversion of a whole dataset.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def as_arrow(column: NDArray[Any], arrow_type: pa.DataType) -> pa.Array:
    """An Arrow array on the memory of `column` (C-contiguous): numbers, or the rows of uint8[N, W] as bytes."""
    return pa.Array.from_buffers(arrow_type, len(column), [None, pa.py_buffer(column)])


def as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of `column`, copied."""
    empty = np.empty(0, dtype=column.type.to_pandas_dtype())
    return np.concatenate([empty, *(np.from_dlpack(chunk) for chunk in column.chunks)])


def bytes_as_numpy(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """uint8[N, W]: the values of a column of W bytes each, copied."""
    width = column.type.byte_width
    return np.concatenate([np.empty((0, width), dtype=np.uint8), *map(_bytes_of_chunk, column.chunks)])


def _bytes_of_chunk(chunk: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    rows = np.frombuffer(chunk.buffers()[1], dtype=np.uint8).reshape(-1, chunk.type.byte_width)
    return rows[chunk.offset : chunk.offset + len(chunk)]


def rows_as_lists(rows: NDArray[np.float32]) -> pa.Array:
    """The rows of float32[N, A] as lists of fixed size."""
    flat = np.ascontiguousarray(rows).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(as_arrow(flat, pa.float32()), rows.shape[1])


def lists_as_numpy(column: pa.ChunkedArray) -> NDArray[np.float32]:
    """float32[N, A]: a column of lists of A numbers, copied."""
    width = column.type.list_size
    chunks = [np.from_dlpack(chunk.flatten()).reshape(-1, width) for chunk in column.chunks]
    return np.concatenate([np.empty((0, width), dtype=np.float32), *chunks])
