// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/statistics/bootstrap.h"

#include <cstdint>
#include <span>
#include <vector>

namespace moire::diff::statistics {

/// McNemar's exact test: `b` and `c` count the pairs that changed one way and the other.
/// min(1, 2·P[Bin(b + c, ½) ≤ min(b, c)]); 1 when nothing changed. Work grows with min(b, c);
/// relative error ≤ 1e-12 up to 10⁶ pairs.
double mcNemarExact(std::uint64_t b, std::uint64_t c);

/// p-values adjusted for having looked at all of them, in the order given. Holm (1979): controls
/// the chance of any false finding.
std::vector<double> holm(std::span<const double> p);
/// Benjamini and Hochberg (1995): controls the share of false findings.
std::vector<double> benjaminiHochberg(std::span<const double> p);

/// What a cluster adds to a ratio of sums under one of two labels.
struct Share
{
    double numerator = 0;
    double denominator = 0;
};

/// Permutation test of whether two labels differ in a ratio of sums: T = |Σn_a/Σd_a − Σn_b/Σd_b|,
/// the labels swapped with chance ½ inside every cluster. p = (1 + #{T* ≥ T}) / (1 + resamples)
/// (Phipson and Smyth 2010), T* ≥ T to within 1e-12 relative so that equal statistics count as
/// equal whatever the order of sums. Bit s mod 32 of word s / 32 of stream b of CounterRandom(seed)
/// swaps cluster s. `a` and `b` have one entry a cluster.
double labelSwapTest(std::span<const Share> a, std::span<const Share> b,
                     const BootstrapOptions& options);

} // namespace moire::diff::statistics
