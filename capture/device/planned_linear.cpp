// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/planned_linear.h"

#include "capture/device/panel_product.h"
#include "capture/device/storage.h"

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/planned_linear.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/panel_product_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_PLANNED_LINEAR_ONCE
#define MOIRE_CAPTURE_DEVICE_PLANNED_LINEAR_ONCE
namespace moire::capture::device {

// A piece is small, since every level of a tree keeps sums of its own: 12 KiB each.
inline constexpr std::size_t plannedTiles = 8;  ///< most tiles of rows in one piece of work
inline constexpr std::size_t plannedPanels = 4; ///< most panels
inline constexpr std::size_t plannedSums = plannedTiles * tileRows * plannedPanels * stripes;
inline constexpr std::size_t mostLevels = 32; ///< of a tree: there are fewer than 2³² inputs

/// One piece of work, how it is summed and where it goes.
struct PlannedPiece
{
    PanelProduct product;
    const SumPlan* plan;
    void* out;
    numeric::DType outType;
    std::size_t outStride;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

void roundTo(numeric::DType type, float* values, std::size_t count)
{
    if (type == numeric::DType::FP32)
        return;
    withStorage(type, [&](auto t) {
        overElements(count, [&](auto d, std::size_t i) {
            hn::StoreU(rounded<decltype(t)>(d, hn::LoadU(d, values + i)), d, values + i);
        });
    });
}

/// values = round(earlier + values).
void addEarlier(numeric::DType type, const float* earlier, float* values, std::size_t count)
{
    withStorage(type, [&](auto t) {
        overElements(count, [&](auto d, std::size_t i) {
            const auto sum = hn::Add(hn::LoadU(d, earlier + i), hn::LoadU(d, values + i));
            hn::StoreU(rounded<decltype(t)>(d, sum), d, values + i);
        });
    });
}

/// The groups of one piece as they come, and their sum in the end. A tree is a binary counter: slot
/// l holds the sum of 2ˡ groups where bit l of their number is set.
class GroupSum
{
public:
    GroupSum(const SumPlan& plan, std::size_t count)
        : m_type(plan.combine == Combine::Wide ? numeric::DType::FP32 : plan.groupType)
        , m_isTree(plan.combine == Combine::Tree)
        , m_count(count)
    {}

    /// Uses up `values`.
    void add(float* values)
    {
        std::size_t level = 0;
        if (m_isTree) {
            for (std::uint64_t n = m_groups; (n & 1U) != 0; n >>= 1U)
                addEarlier(m_type, m_slots[level++], values, m_count);
        } else if (m_groups > 0) {
            addEarlier(m_type, m_slots[0], values, m_count);
        }
        std::memcpy(m_slots[level], values, m_count * sizeof(float));
        ++m_groups;
    }

    const float* total()
    {
        if (!m_isTree)
            return m_slots[0];
        auto level = static_cast<std::size_t>(std::countr_zero(m_groups));
        float* sum = m_slots[level];
        for (std::uint64_t n = m_groups >> ++level; n != 0; n >>= 1U, ++level)
            if ((n & 1U) != 0)
                addEarlier(m_type, m_slots[level], sum, m_count);
        return sum;
    }

private:
    numeric::DType m_type;
    bool m_isTree;
    std::size_t m_count;
    std::uint64_t m_groups = 0;
    HWY_ALIGN float m_slots[mostLevels][plannedSums];
};

template <class T>
void sumPiece(const PlannedPiece& piece)
{
    const PanelProduct& product = piece.product;
    const SumPlan& plan = *piece.plan;
    const std::size_t stride = product.panels() * stripes;
    const std::size_t count = (product.rowEnd() - product.rowBegin()) * stride;
    HWY_ALIGN float leaf[plannedSums];
    HWY_ALIGN float group[plannedSums];
    GroupSum sum(plan, count);
    std::size_t inGroup = 0;
    for (std::size_t k = 0; k < product.inputs; k += plan.leaf) {
        const std::size_t end = std::min(product.inputs, k + plan.leaf);
        const bool first = inGroup == 0;
        if (plan.continuous) {
            accumulate<T>(product, k, end, group, stride, first);
        } else {
            float* into = first ? group : leaf;
            accumulate<T>(product, k, end, into, stride, true);
            roundTo(plan.leafType, into, count);
            if (!first) {
                addEarlier(plan.leafType, group, leaf, count);
                std::memcpy(group, leaf, count * sizeof(float));
            }
        }
        if (++inGroup == plan.group || end == product.inputs) {
            roundTo(plan.groupType, group, count);
            sum.add(group);
            inGroup = 0;
        }
    }
    withStorage(piece.outType, [&](auto t) {
        finishRows(product, sum.total(), stride, static_cast<decltype(t)*>(piece.out),
                   piece.outStride);
    });
}

void computePlanned(const PlannedPiece& piece)
{
    withStorage(piece.product.weight->dtype(), [&](auto t) { sumPiece<decltype(t)>(piece); });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(computePlanned);

void plannedLinear(const void* in, numeric::DType inType, std::size_t inStride, std::size_t rows,
                   const PackedLinear& weight, InputRange range, const SumPlan& plan, void* out,
                   numeric::DType outType, std::size_t outStride, Workers& workers)
{
    assert(plan.leaf > 0 && plan.group > 0 && range.count > 0);
    assert(range.begin + range.count <= weight.inputs());
    if (rows == 0 || weight.outputs() == 0)
        return;
    const auto left = leftTiles(in, inType, inStride, rows, range.count, workers);
    const PieceGrid grid(rows, weight.panels(), plannedTiles, plannedPanels, workers.threads());
    const auto compute = HWY_DYNAMIC_DISPATCH(computePlanned);
    workers.run(grid.count(), [&](std::size_t i) {
        PlannedPiece piece{{&weight, left.get(), rows, range.count, range.begin, 0, 0, 0, 0},
                           &plan,
                           out,
                           outType,
                           outStride};
        if (grid.place(i, piece.product))
            compute(piece);
    });
}

} // namespace moire::capture::device
#endif
