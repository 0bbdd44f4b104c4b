// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/planned_linear.h"

#include <cstdint>

namespace moire::capture {

/// The contracts of the tree-based invariant kernels; each gives bits of its own.
enum class TreeContract : std::uint8_t
{
    A, ///< every leaf and every sum rounds to the layer's dtype
    B, ///< the odd part of the leaves is one fp32 accumulator, then as A
    C  ///< all in fp32, one rounding at the very end
};

/// The tree over the leaves of one inner index.
struct TreeShape
{
    std::uint32_t leaves = 0;   ///< T
    std::uint32_t oddPart = 0;  ///< of T
    std::uint32_t maxRanks = 0; ///< T / oddPart: how many equal parts own a whole subtree each

    /// inputs / leaf leaves; all zero where the leaf does not divide the inputs.
    static TreeShape of(std::uint32_t inputs, std::uint32_t leaf);

    /// Leaves that contract A and C add one by one before they pair: the odd part, and two where
    /// that is one.
    std::uint32_t firstGroup() const;
};

/// How a part of the inner index (`inputs`, whole leaves) is summed, the values in `dtype`.
device::SumPlan treeSum(TreeContract contract, std::uint32_t inputs, std::uint32_t leaf,
                        numeric::DType dtype);

} // namespace moire::capture
