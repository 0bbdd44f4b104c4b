// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

namespace moire::numeric {

/// Everything element-wise that a comparison wants of one row of a tap pair, from one pass.
/// d = target − reference, rounded once in fp64, which holds it exactly but for magnitudes very far
/// apart (elementDifference). Sums run over the elements that are finite on both sides, in fp64:
/// chunk by chunk of 1024 elements (the last width mod 16 are one of their own), within a chunk in
/// `elementStripes` stripes: element i goes to stripe i mod elementStripes, each stripe adds in
/// ascending i, then to the row's stripe; those are added as a balanced binary tree (0+8, 1+9, …
/// then 0+4, …, 0+2, 0+1). So every instruction set and the scalar form give the same bits.
/// Relative error of a sum of n terms ≤ (68 + n/1024)·2⁻⁵³ of the sum of magnitudes (Higham
/// 2002, 4.2).
struct ElementSums
{
    std::uint32_t unequal = 0;      ///< bits differ (value differs, when the dtypes do)
    std::uint32_t classChanges = 0; ///< value classes differ, ±0 being one class
    std::uint32_t finite = 0;
    bool allNormal = false; ///< every value is a normal number on both sides: the class matrix has
                            ///< one cell. Kernels only; false where it was not found out
    std::uint32_t worst =
        0; ///< class change first, then largest |d|, then lowest index; 0 if all equal
    std::uint64_t maxUlp = 0; ///< same dtype only; NaN pairs left out; saturates at 2⁶³ − 1
    std::uint64_t sumUlp = 0; ///< saturates at 2⁶⁴ − 1
    double maxAbs = 0;
    double sumAbs = 0;
    double sumSquares = 0;
    double referenceSquares = 0;
    double targetSquares = 0;
    double dot = 0;
};

inline constexpr std::size_t elementStripes = 16;

/// target − reference in fp64: 0 only where the values are equal, also of 64-bit integers,
/// which fp64 does not hold. NaN where either is one.
double elementDifference(std::uint64_t reference, DType referenceType, std::uint64_t target,
                         DType targetType);

/// `reference` and `target`: `width` elements each, any alignment. Different dtypes are compared by
/// value (no ulps).
ElementSums compareElements(const std::byte* reference, DType referenceType,
                            const std::byte* target, DType targetType, std::size_t width);

/// The same, one element after the other: what compareElements does for dtypes without a kernel,
/// and the form that its kernels are held to, bit for bit.
ElementSums compareElementsScalar(const std::byte* reference, DType referenceType,
                                  const std::byte* target, DType targetType, std::size_t width);

/// Adds the pair's class counts into matrix[reference class · 6 + target class].
void countClasses(const std::byte* reference, DType referenceType, const std::byte* target,
                  DType targetType, std::size_t width, std::uint64_t* matrix);

} // namespace moire::numeric
