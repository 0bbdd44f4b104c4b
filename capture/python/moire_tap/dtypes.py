# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Element types of captures (FORMAT.md, section 2), and arrays as the bits that are recorded."""

import numpy as np

from .errors import MoireError


class DType:
    """One element type: its number in files, its name, the unsigned type of its bits."""

    def __init__(self, number, name, size, layout=None):
        self.number = number
        self.name = name
        self.size = size
        self.layout = layout  # exponent bits, mantissa bits, bias of a floating type
        self.bits = np.dtype(f"<u{size}")

    def __repr__(self):
        return f"<{self.name}>"


DTYPES = {
    dtype.name: dtype
    for dtype in (
        DType(1, "bf16", 2, (8, 7, 127)),
        DType(2, "fp16", 2, (5, 10, 15)),
        DType(3, "fp32", 4, (8, 23, 127)),
        DType(4, "fp64", 8, (11, 52, 1023)),
        DType(5, "e4m3fn", 1, (4, 3, 7)),
        DType(6, "e5m2", 1, (5, 2, 15)),
        DType(7, "e4m3fnuz", 1, (4, 3, 8)),
        DType(8, "e5m2fnuz", 1, (5, 2, 16)),
        DType(9, "int8", 1),
        DType(10, "int16", 2),
        DType(11, "int32", 4),
        DType(12, "int64", 8),
        DType(13, "uint8", 1),
        DType(14, "bool", 1),
    )
}

# What NumPy, ml_dtypes and torch call them.
ALIASES = {
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32", "float64": "fp64",
    "double": "fp64", "float8_e4m3fn": "e4m3fn", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2fnuz": "e5m2fnuz",
}


def dtype_of(name):
    """The element type of a name: ours, NumPy's, ml_dtypes' or torch's ("torch.bfloat16")."""
    if isinstance(name, DType):
        return name
    text = getattr(name, "name", None) or str(name)
    text = text.removeprefix("torch.")
    found = DTYPES.get(ALIASES.get(text, text))
    if found is None:
        raise MoireError(f"element type {text} cannot be recorded; captures hold {', '.join(DTYPES)}")
    return found


def is_torch(values):
    return type(values).__module__.partition(".")[0] == "torch" or hasattr(values, "detach")


def bits_of(values, dtype=None):
    """(bits, element type) of an array or tensor: bits has its shape and an unsigned type.

    Nothing is rounded: `dtype` only says what unsigned integers mean (uint16 bits of bf16), or checks.
    """
    if is_torch(values):
        return _bits_of_tensor(values, dtype)
    array = np.asarray(values)
    meant = dtype is not None and array.dtype.kind == "u"
    found = dtype_of(dtype if meant else array.dtype)
    return _checked(np.ascontiguousarray(array), found, dtype)


def _bits_of_tensor(tensor, dtype):
    import torch

    meant = dtype is not None and str(tensor.dtype).startswith("torch.uint")
    found = dtype_of(dtype if meant else tensor.dtype)
    host = tensor.detach().cpu().contiguous()
    carrier = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[found.size]
    return _checked(host.view(carrier).numpy(), found, dtype)


def _checked(array, found, wanted):
    if wanted is not None and dtype_of(wanted) is not found:
        raise MoireError(f"values of type {found.name} were given where {dtype_of(wanted).name} is recorded")
    if array.dtype.itemsize != found.size:
        raise MoireError(f"{array.dtype} holds no bits of {found.name}")
    if array.dtype.byteorder == ">":
        array = array.byteswap()
    return array.view(found.bits), found


def as_floats(bits, dtype):
    """The values of `bits`, exactly: float32 where that holds them, else float64 (int64: to nearest)."""
    if dtype.name == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if dtype.name == "fp32":
        return bits.view(np.float32)
    if dtype.name in ("fp16", "fp64"):
        return bits.view(np.float16).astype(np.float32) if dtype.size == 2 else bits.view(np.float64)
    if dtype.layout is None:
        return bits.view(np.dtype(dtype.name)).astype(np.float64)
    return _fp8_values(dtype)[bits]


def widened(bits, dtype):
    """The values of `bits` as float64."""
    with np.errstate(invalid="ignore"):  # signalling NaN
        return as_floats(bits, dtype).astype(np.float64)


def _fp8_values(dtype):
    """The 256 values of an fp8 type."""
    exponent_bits, mantissa_bits, bias = dtype.layout
    table = np.empty(256)
    for bits in range(256):
        exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
        mantissa = bits & (1 << mantissa_bits) - 1
        if exponent:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        else:
            value = mantissa / (1 << mantissa_bits) * 2.0 ** (1 - bias)
        table[bits] = -value if bits & 0x80 else value
    if dtype.name.endswith("fnuz"):
        table[0x80] = np.nan
    elif dtype.name == "e4m3fn":
        table[[0x7F, 0xFF]] = np.nan
    else:
        table[[0x7C, 0xFC]] = np.inf, -np.inf
        table[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    return table
