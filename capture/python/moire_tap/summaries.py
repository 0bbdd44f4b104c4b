# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What a capture says of rows besides their values: digests, counts, statistics, top-K tables, scores."""

from dataclasses import dataclass

import numpy as np

from .digests import digest_rows
from .dtypes import as_floats

COUNTS = np.dtype([("finite", "<u4"), ("nan", "<u4"), ("infinite", "<u4")])
STATISTICS = np.dtype([("min", "<f4"), ("max", "<f4"), ("mean", "<f4"), ("l2", "<f4")])
# Elements widened at a time: what a processor's second-level cache holds as fp64.
_PIECE = 1 << 15


@dataclass
class Summary:
    """Of n rows of one tap: digests (n, uint64), counts (n), statistics (n)."""

    digests: np.ndarray
    counts: np.ndarray
    statistics: np.ndarray


def summarise(bits, dtype):
    """The summary of rows x width bits. Mean and L2: fp64 sums in element order, rounded once to fp32."""
    rows, width = bits.shape
    counts = np.zeros(rows, COUNTS)
    statistics = np.zeros(rows, STATISTICS)
    lines = max(1, _PIECE // max(1, width))
    for top in range(0, rows, lines):
        piece = slice(top, top + lines)
        _count_and_measure(as_floats(bits[piece], dtype), counts[piece], statistics[piece])
    return Summary(digest_rows(bits), counts, statistics)


def _count_and_measure(values, counts, statistics):
    finite = np.isfinite(values)
    with np.errstate(over="ignore"):  # fp64 beyond fp32's range becomes infinite
        if finite.all():
            counts["finite"] = values.shape[1]
            statistics["min"], statistics["max"] = values.min(axis=1), values.max(axis=1)
            _add_up(values, counts, statistics)
            return
        counts["finite"], counts["nan"] = finite.sum(axis=1), np.isnan(values).sum(axis=1)
        counts["infinite"] = values.shape[1] - counts["finite"] - counts["nan"]
        statistics["min"] = np.where(finite, values, np.inf).min(axis=1)
        statistics["max"] = np.where(finite, values, -np.inf).max(axis=1)
        _add_up(np.where(finite, values, 0), counts, statistics)
    none = counts["finite"] == 0
    for name in STATISTICS.names:
        statistics[name][none] = np.nan


def _add_up(values, counts, statistics):
    """Mean and L2 in element order, as the engine adds; + 0.0 since its sum begins with +0."""
    values = values.astype(np.float64)
    statistics["mean"] = (np.add.accumulate(values, axis=1)[:, -1] + 0.0) / np.maximum(counts["finite"], 1)
    np.square(values, out=values)
    statistics["l2"] = np.sqrt(np.add.accumulate(values, axis=1, out=values)[:, -1])


def best_ids(values, k):
    """The k first of one row: descending, NaN behind all, ties by ascending id."""
    k = min(k, values.size)
    if k == 0:
        return np.empty(0, np.int32)
    falling = -values
    last = falling[np.argpartition(falling, k - 1)[k - 1]]
    if np.isnan(last):
        before, ties = np.flatnonzero(~np.isnan(falling)), np.flatnonzero(np.isnan(falling))
    else:
        before, ties = np.flatnonzero(falling < last), np.flatnonzero(falling == last)
    before = before[np.argsort(falling[before], kind="stable")]
    return np.concatenate([before, ties[: k - before.size]]).astype(np.int32)


@dataclass
class TopK:
    """Top-K tables of n rows: ids and values n x k, the rest n."""

    ids: np.ndarray
    values: np.ndarray
    log_sum_exp: np.ndarray
    remaining_mass: np.ndarray

    @staticmethod
    def empty(rows, k):
        return TopK(np.full((rows, k), -1, np.int32), np.zeros((rows, k), np.float32), np.empty(rows), np.empty(rows))

    def put(self, r, row):
        """Row `r` from V fp32 logits. Log-sum-exp: fp64, the largest subtracted."""
        ids = best_ids(row, self.ids.shape[1])
        self.ids[r, : ids.size] = ids
        self.values[r, : ids.size] = row[ids]
        wide = row.astype(np.float64)
        known = wide[~np.isnan(wide)]
        top = known.max(initial=-np.inf)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            self.log_sum_exp[r] = top + np.log(np.where(known == top, 1.0, np.exp(known - top)).sum())
            mass = np.exp(row[ids].astype(np.float64) - self.log_sum_exp[r])
        self.remaining_mass[r] = max(0.0, 1.0 - mass[~np.isnan(mass)].sum())


def score(logits, log_sum_exp, token):
    """(logit, log-probability, rank) of a token under one row of fp32 logits; rank 0 is the best."""
    own = logits[token]
    below = np.arange(logits.size) < token
    if np.isnan(own):
        before = ~np.isnan(logits) | below
    else:
        before = (logits > own) | (logits == own) & below
    return float(own), float(own) - log_sum_exp, int(np.count_nonzero(before & (np.arange(logits.size) != token)))
