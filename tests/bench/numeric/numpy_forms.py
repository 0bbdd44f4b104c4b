#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What NumPy takes for what the benches measure, one thread; prints seconds of processor, the best of some rounds.

numpy_forms.py elements REF TARGET TAP    h5py + NumPy on two captures: bits equal, max abs, relative L2 in float64
numpy_forms.py logits REF TARGET ROWS V   bf16 rows of two plain files: KL both ways, TV, top-K, margins
"""

import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

ROUNDS = 3
BLOCK = 16  # rows at a time, of 4, 16 and 64 the fastest: they stay in the cache
BEST = 64


def elements(reference: str, target: str, tap: str) -> float:
    import h5py

    with h5py.File(reference) as ours, h5py.File(target) as theirs:
        a, b = ours["values"][tap], theirs["values"][tap]
        equal, largest, squares, norm = 0, 0.0, 0.0, 0.0
        for begin in range(0, a.shape[0], BLOCK):
            r, t = a[begin : begin + BLOCK], b[begin : begin + BLOCK]
            equal += np.count_nonzero(r.view(np.uint32) == t.view(np.uint32))
            r64 = r.astype(np.float64).ravel()  # as ours: fp32 would lose digits of the sums
            d = t.ravel() - r64
            largest = max(largest, float(np.abs(d).max()))
            squares += float(np.dot(d, d))
            norm += float(np.dot(r64, r64))
    return equal + largest + (squares / norm) ** 0.5


def best(row: np.ndarray) -> np.ndarray:
    candidates = np.argpartition(-row, BEST)[:BEST]
    return candidates[np.argsort(-row[candidates], kind="stable")]


def logits(reference: str, target: str, rows: int, vocabulary: int) -> float:
    total = 0.0
    for ours, theirs in zip(
        np.memmap(reference, np.uint16, "r", shape=(rows, vocabulary)), np.memmap(target, np.uint16, "r", shape=(rows, vocabulary))
    ):
        r = (ours.astype(np.uint32) << 16).view(np.float32)
        t = (theirs.astype(np.uint32) << 16).view(np.float32)
        r64, t64 = r.astype(np.float64), t.astype(np.float64)
        log_p = r64 - r64.max()
        log_p -= np.log(np.exp(log_p).sum())
        log_q = t64 - t64.max()
        log_q -= np.log(np.exp(log_q).sum())
        p, q = np.exp(log_p), np.exp(log_q)
        change = log_p - log_q
        total += np.dot(p, change) - np.dot(q, change) + 0.5 * np.abs(p - q).sum()
        a, b = best(r), best(t)
        total += len(np.intersect1d(a, b)) + float(r[a[0]] - r[a[1]] + t[b[0]] - t[b[1]])
    return total


def main() -> None:
    work = {"elements": lambda a: elements(*a), "logits": lambda a: logits(a[0], a[1], int(a[2]), int(a[3]))}[sys.argv[1]]
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work(sys.argv[2:])
        seconds.append(time.process_time() - begin)
    print(min(seconds))


if __name__ == "__main__":
    main()
