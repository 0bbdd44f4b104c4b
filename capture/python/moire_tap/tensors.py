# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Tensors as rows of a capture, and their summaries on the device where they lie."""

import numpy as np
import torch

from .dtypes import bits_of, dtype_of
from .summaries import COUNTS, STATISTICS, Summary, summarise

_STEP = 0x9E3779B97F4A7C15 - (1 << 64)  # the digest's constants as the int64 that torch has
_FACTORS = 0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64)
_CARRIERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# Elements summed up at a time on a device: bounds the fp64 copies.
_PIECE = 1 << 24


def first_tensor(value):
    """The tensor that a module returns first, or None."""
    while not isinstance(value, torch.Tensor):
        if hasattr(value, "to_tuple"):
            value = value.to_tuple()
        if not isinstance(value, (tuple, list)) or not value:
            return None
        value = value[0]
    return value


def as_rows(tensor, batch, length):
    """A view or copy with one row a token, batch-major, or None: the tensor has no row for every token."""
    if hasattr(tensor, "placements"):  # a DTensor: whole on every rank, or not to be had here
        if not all(placement.is_replicate() for placement in tensor.placements):
            return None
        tensor = tensor.to_local()
    count, shape = batch * length, tuple(tensor.shape)
    if len(shape) < 2:
        return None
    if shape[:2] == (batch, length) or shape[0] == count or shape[:2] == (1, count):
        return tensor.reshape(count, -1)
    if shape[:2] == (1, length):
        return tensor.expand(batch, *shape[1:]).reshape(count, -1)
    if len(shape) == 2 and shape[0] == length:
        return tensor.unsqueeze(0).expand(batch, *shape).reshape(count, -1)
    return None


def picked(rows, pick):
    """The rows to record; `pick` is an array of places or None for all."""
    rows = rows.detach()
    if pick is not None:
        rows = rows.index_select(0, torch.from_numpy(pick).to(rows.device))
    return rows


def _shifted(z, bits):
    """z >> bits of the unsigned word."""
    return (z >> bits) & ((1 << 64 - bits) - 1)


def digests_on_device(rows, size, first=0):
    """D of every row as int64 words; `first` is the place of each row's first element."""
    bits = rows.view(_CARRIERS[size]).to(torch.int64)
    if size < 8:
        bits &= (1 << 8 * size) - 1
    z = bits + torch.arange(first + 1, first + rows.shape[1] + 1, device=rows.device, dtype=torch.int64) * _STEP
    z = (z ^ _shifted(z, 30)) * _FACTORS[0]
    z = (z ^ _shifted(z, 27)) * _FACTORS[1]
    return (z ^ _shifted(z, 31)).sum(dim=1)


def summarise_on_device(rows):
    """The summary of rows x width without copying the values to the host; mean and L2 in the device's order."""
    dtype, count = dtype_of(rows.dtype), rows.shape[0]
    digests = np.empty(count, np.uint64)
    counts, statistics = np.zeros(count, COUNTS), np.zeros(count, STATISTICS)
    lines = max(1, _PIECE // rows.shape[1])
    for top in range(0, count, lines):
        piece = rows[top : top + lines].contiguous()
        place = slice(top, top + lines)
        digests[place] = digests_on_device(piece, dtype.size).cpu().numpy().view(np.uint64)
        wide = piece.to(torch.float64)
        finite = wide.isfinite()
        kept = torch.where(finite, wide, torch.zeros_like(wide))
        some = finite.sum(dim=1)
        none = torch.full_like(wide, torch.inf)
        found = torch.stack([some.double(), wide.isnan().sum(dim=1).double(), torch.where(finite, wide, none).amin(dim=1),
                             torch.where(finite, wide, -none).amax(dim=1), kept.sum(dim=1) / some,
                             kept.square().sum(dim=1).sqrt()]).cpu().numpy()
        counts["finite"][place], counts["nan"][place] = found[0], found[1]
        for name, line in zip(STATISTICS.names, found[2:]):
            statistics[name][place] = np.where(found[0] > 0, line, np.nan)
    counts["infinite"] = rows.shape[1] - counts["finite"] - counts["nan"]
    return Summary(digests, counts, statistics)


def host_rows(rows, with_values):
    """(bits or None, element type, summary) of rows on any device."""
    with torch.no_grad(), torch.autocast(rows.device.type, enabled=False):
        if rows.device.type == "cpu":
            bits, dtype = bits_of(rows)
            return (bits if with_values else None), dtype, summarise(bits, dtype)
        summary = summarise_on_device(rows)
        return (bits_of(rows)[0] if with_values else None), dtype_of(rows.dtype), summary
