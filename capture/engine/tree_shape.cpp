// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/tree_shape.h"

#include <algorithm>
#include <bit>

namespace moire::capture {

TreeShape TreeShape::of(std::uint32_t inputs, std::uint32_t leaf)
{
    TreeShape shape;
    if (leaf == 0 || inputs == 0 || inputs % leaf != 0)
        return shape;
    shape.leaves = inputs / leaf;
    shape.maxRanks = std::uint32_t{1} << static_cast<unsigned>(std::countr_zero(shape.leaves));
    shape.oddPart = shape.leaves / shape.maxRanks;
    return shape;
}

std::uint32_t TreeShape::firstGroup() const
{
    return oddPart > 1 ? oddPart : std::min<std::uint32_t>(leaves, 2);
}

device::SumPlan treeSum(TreeContract contract, std::uint32_t inputs, std::uint32_t leaf,
                        numeric::DType dtype)
{
    const TreeShape shape = TreeShape::of(inputs, leaf);
    device::SumPlan plan;
    plan.leaf = leaf;
    plan.continuous = contract == TreeContract::B;
    plan.group = plan.continuous ? shape.oddPart : shape.firstGroup();
    plan.leafType = plan.groupType = contract == TreeContract::C ? numeric::DType::FP32 : dtype;
    plan.combine = device::Combine::Tree;
    return plan;
}

} // namespace moire::capture
