# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The digest of FORMAT.md, section 1: a sum of mixed elements mod 2**64, free of order."""

import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
# Elements mixed at a time: what a processor's second-level cache holds with its scratch.
_PIECE = 1 << 14


def mix_in_place(z, scratch):
    """The finaliser of SplitMix64 on uint64 arrays; `scratch` has the shape of `z`."""
    for shift, factor in zip(_SHIFTS, (*_FACTORS, None)):
        np.right_shift(z, shift, out=scratch)
        np.bitwise_xor(z, scratch, out=z)
        if factor is not None:
            np.multiply(z, factor, out=z)


def digest_rows(bits, first=0):
    """D of every row of a 2-D array of unsigned integers (rows x width), as uint64.

    `first` is the place of each row's first element.
    """
    rows, width = bits.shape
    sums = np.zeros(rows, np.uint64)
    if rows == 0 or width == 0:
        return sums
    columns = min(width, _PIECE)
    lines = max(1, _PIECE // columns)
    work = np.empty((2, min(lines, rows), columns), np.uint64)
    for left in range(0, width, columns):
        right = min(left + columns, width)
        places = np.arange(first + left + 1, first + right + 1, dtype=np.uint64) * np.uint64(STEP)
        for top in range(0, rows, lines):
            piece = bits[top : top + lines, left:right]
            z, scratch = work[:, : piece.shape[0], : piece.shape[1]]
            np.add(piece, places, out=z, casting="unsafe", dtype=np.uint64)
            mix_in_place(z, scratch)
            sums[top : top + lines] += z.sum(axis=1, dtype=np.uint64)
    return sums


def digest(bits, first=0):
    """D of a 1-D array of unsigned integers, as an int."""
    return int(digest_rows(np.asarray(bits).reshape(1, -1), first)[0])


def digest_words(words):
    """D of ints as 64-bit elements."""
    return digest(np.array([word & MASK for word in words], np.uint64))


def digest_bytes(data, element=1, first=0):
    """D of bytes as elements of 1, 2, 4 or 8 bytes, the first of them being number `first`."""
    return digest(np.frombuffer(data, f"<u{element}"), first)


def mix(word):
    """The finaliser of SplitMix64 of one int."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def tensor_digest(name, dtype, shape, bits):
    """Tensor digest of FORMAT.md: over its hub name, element type, shape and bits in row-major order."""
    flat = np.ascontiguousarray(bits).reshape(-1)
    return digest_words([digest_bytes(name.encode()), dtype.number, len(shape), *shape, digest(flat)])


def hex_text(word):
    return f"0x{word:016x}"
