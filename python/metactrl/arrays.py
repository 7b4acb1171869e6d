"""The caller's memory, without copies: NumPy arrays, torch tensors, everything with a buffer or with DLPack."""

from __future__ import annotations

import ctypes as c
import sys
from typing import Any, Optional, Sequence, Tuple

from .arguments import whole
from .errors import ArgumentError

# Of token ids.
_LEAST, _MOST = -(2**31), 2**31 - 1
# name -> (letters of the buffer protocol, bytes, DLPack's code)
_TYPES = {"float32": ("f", 4, 2), "int32": ("il", 4, 0)}


class _DLTensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Memory:
    """Contiguous memory of a shape. Keeps what it is the memory of alive."""

    def __init__(self, address: int, shape: Sequence[int], keep: Any) -> None:
        self.address = address
        self.shape = tuple(shape)
        self.size = 1
        for extent in self.shape:
            self.size *= extent
        self._keep = keep


def _mismatch(array: Any, wanted: str, found: str) -> ArgumentError:
    return ArgumentError(f"{type(array).__module__}.{type(array).__name__} should be {wanted}, and is {found}")


def _from_torch(array: Any, dtype: str) -> Memory:
    if array.device.type != "cpu":
        raise _mismatch(array, "in the CPU's memory", f"on {array.device}")
    if str(array.dtype) != f"torch.{dtype}":
        raise _mismatch(array, dtype, str(array.dtype))
    if not array.is_contiguous():
        raise _mismatch(array, "contiguous", "not")
    return Memory(array.data_ptr(), tuple(array.shape), array)


def _from_dlpack(array: Any, dtype: str) -> Memory:
    if array.__dlpack_device__()[0] != 1:
        raise _mismatch(array, "in the CPU's memory", f"on DLPack device {tuple(array.__dlpack_device__())}")
    capsule = array.__dlpack__()
    pointer_of = c.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    tensor = _DLTensor.from_address(pointer_of(capsule, b"dltensor"))
    _, size, code = _TYPES[dtype]
    if (tensor.code, tensor.bits, tensor.lanes) != (code, 8 * size, 1):
        raise _mismatch(array, dtype, f"DLPack type {(tensor.code, tensor.bits, tensor.lanes)}")
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    if tensor.strides:
        expected = 1
        for i in reversed(range(tensor.ndim)):
            if shape[i] > 1 and tensor.strides[i] != expected:
                raise _mismatch(array, "contiguous", "not")
            expected *= shape[i]
    return Memory((tensor.data or 0) + tensor.byte_offset, shape, (array, capsule))


def _from_buffer(array: Any, dtype: str, writable: bool) -> Memory:
    view = memoryview(array)
    letters, size, _ = _TYPES[dtype]
    native = "<=@" if sys.byteorder == "little" else ">=@"
    if view.format.lstrip(native) not in tuple(letters) or view.itemsize != size:
        raise _mismatch(array, dtype, f"of buffer format {view.format!r}")
    if not view.c_contiguous:
        raise _mismatch(array, "contiguous", "not")
    if writable and view.readonly:
        raise _mismatch(array, "writable", "read-only")
    if view.readonly:
        # ctypes gives addresses of writable buffers only; what knows its own is asked, the rest is copied.
        interface = getattr(array, "__array_interface__", None)
        if interface is not None:
            return Memory(interface["data"][0], view.shape or (), array)
        copy = (c.c_char * view.nbytes).from_buffer_copy(view)
        return Memory(c.addressof(copy), view.shape or (), copy)
    if view.nbytes == 0:
        return Memory(0, view.shape or (), array)
    block = (c.c_char * view.nbytes).from_buffer(array)
    return Memory(c.addressof(block), view.shape or (), (array, block))


def memory_of(array: Any, dtype: str, writable: bool = False) -> Memory:
    """The memory of an array of this type; raises ArgumentError for another type, device or layout. Nothing is copied, except
    lists of numbers that are only read."""
    if isinstance(array, Memory):
        return array
    if hasattr(array, "data_ptr") and hasattr(array, "is_contiguous"):
        return _from_torch(array, dtype)
    try:
        memoryview(array)
    except TypeError:
        pass
    else:
        return _from_buffer(array, dtype, writable)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array, dtype)
    if not writable and isinstance(array, Sequence) and not isinstance(array, (str, bytes)):
        kind: Any = c.c_float if dtype == "float32" else c.c_int32
        if kind is c.c_int32:
            array = int_list(array)
        try:
            copy = (kind * len(array))(*array)
        except (TypeError, OverflowError) as error:
            raise ArgumentError(f"a list of numbers is needed: {error}") from None
        return Memory(c.addressof(copy), (len(array),), copy)
    raise ArgumentError(f"{type(array).__name__} is no array of {dtype}")


def int_list(values: Any) -> "list[int]":
    """Token ids from anything that holds whole numbers, wherever it is."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes, bytearray, dict, set)):
        raise ArgumentError(f"token ids come in a list or an array of one dimension, not in {type(values).__name__}")
    try:
        ids = list(values)
    except TypeError:
        raise ArgumentError(f"token ids come in a list or an array of one dimension, not as {type(values).__name__}") from None
    if set(map(type, ids)) <= {int} and min(ids, default=0) >= _LEAST and max(ids, default=0) <= _MOST:
        return ids  # nearly always, and many
    return [whole("a token id", value, _LEAST, _MOST) for value in ids]


def id_array(values: Any) -> Tuple[Any, int]:
    """The same as a C array, with its length."""
    ids = int_list(values)
    return (c.c_int32 * len(ids))(*ids), len(ids)


def gather(logits: Any, ids: Sequence[int]) -> "list[float]":
    """The logits of a few tokens, wherever the row is: only these are copied."""
    if hasattr(logits, "index_select") and hasattr(logits, "device"):
        if logits.dim() != 1:
            raise ArgumentError(f"a row of logits has one dimension, not {logits.dim()}")
        import torch

        if not logits.dtype.is_floating_point:
            raise ArgumentError(f"logits are floating point, not {logits.dtype}")
        index = torch.tensor(ids, dtype=torch.long, device=logits.device)
        return logits.detach().index_select(0, index).float().cpu().tolist()
    shape = getattr(logits, "shape", None)
    if shape is not None:
        if len(shape) != 1:
            raise ArgumentError(f"a row of logits has one dimension, not {len(shape)}")
        if getattr(getattr(logits, "dtype", None), "kind", "f") != "f":
            raise ArgumentError(f"logits are floating point, not {logits.dtype}")
    try:
        return [float(logits[i]) for i in ids]
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"a row of logits is a list or array of numbers: {error}") from None


def favourite(logits: Any, size: int) -> Optional[int]:
    """The token with the largest of the first `size` logits, which is told and decides nothing; None where there is none."""
    try:
        row = logits[:size]
        best = int(row.argmax()) if hasattr(row, "argmax") else max(range(size), key=row.__getitem__)
        return best if bool(row[best] == row[best]) else None
    except (TypeError, ValueError, LookupError):  # only those that may come need be numbers
        return None


def length_of(logits: Any) -> int:
    try:
        return int(logits.shape[0]) if hasattr(logits, "shape") else len(logits)
    except (TypeError, IndexError):
        raise ArgumentError(f"{type(logits).__name__} is no row of logits") from None
