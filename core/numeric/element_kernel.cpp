// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/element_kernel.h"

#include <algorithm>
#include <cstring>
#include <limits>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/element_kernel.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/element_close_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

/// Words of a block: a lane of 16 bits can add the high bytes of that many vectors.
template <class L>
constexpr std::size_t blockSize()
{
    return std::min(elementChunk, 256 * L::lanes);
}

template <class L>
void sumBlock(const typename L::Word* reference, const typename L::Word* target, std::size_t count,
              ElementStripes& stripes, ElementChunk& block, double grid)
{
    bool close = grid > 0;
    CloseSums sums;
    for (std::size_t i = 0; i < count; i += largestSpan) {
        const std::size_t span = std::min(largestSpan, count - i);
        double largest = 0;
        if constexpr (sizeof(typename L::Word) == sizeof(std::uint16_t)) {
            if (close)
                largest = sums.add(L{}, reference + i, target + i, span, grid, stripes);
            close = close && CloseSums::isClose(largest, grid);
        }
        if (!close)
            sumDifferences<L>(reference + i, target + i, span, stripes, largest);
        if (largest > block.maxAbs) {
            block.maxAbs = largest;
            block.largestBegin = i;
        }
    }
}

template <class L>
ElementChunk compareBlock(const typename L::Word* r, const typename L::Word* t, std::size_t count,
                          ElementStripes& stripes)
{
    HWY_ALIGN typename L::Word finiteReference[blockSize<L>()];
    HWY_ALIGN typename L::Word finiteTarget[blockSize<L>()];
    ElementChunk block;
    const bool equal = std::memcmp(r, t, count * sizeof *r) == 0;
    const Magnitudes magnitudes =
        equal ? normalEqualPass<L>(r, count, block) : normalPass<L>(r, t, count, block);
    const bool normal = magnitudes.normal<L>();
    if (!normal) {
        block = {};
        block.normal = false;
        generalPass<L>(r, t, count, block, finiteReference, finiteTarget);
        r = finiteReference;
        t = finiteTarget;
    }
    const double grid = normal ? gridOf<L>(magnitudes) : 0;
    stripes.grid = std::min(stripes.grid, grid);
    if (block.unequal == 0)
        sumEqual<L>(r, count, stripes);
    else
        sumBlock<L>(r, t, count, stripes, block, grid);
    return block;
}

void clearOf(ElementStripes& stripes)
{
    const DoubleTag d;
    for (double* sum : {stripes.sumAbs, stripes.sumSquares, stripes.referenceSquares,
                        stripes.targetSquares, stripes.dot})
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes)
            hn::Store(hn::Zero(d), d, sum + begin);
    stripes.grid = std::numeric_limits<double>::max();
}

void addTo(ElementStripes& row, const ElementStripes& chunk)
{
    const DoubleTag d;
    const auto add = [&](double* sum, const double* term) HWY_ATTR {
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes)
            hn::Store(hn::Add(hn::Load(d, sum + begin), hn::Load(d, term + begin)), d, sum + begin);
    };
    add(row.sumAbs, chunk.sumAbs);
    add(row.sumSquares, chunk.sumSquares);
    add(row.referenceSquares, chunk.referenceSquares);
    add(row.targetSquares, chunk.targetSquares);
    add(row.dot, chunk.dot);
}

template <class L>
ElementChunk compareAs(const std::byte* reference, const std::byte* target, std::size_t count,
                       ElementStripes& stripes)
{
    const auto* r = reinterpret_cast<const typename L::Word*>(reference);
    const auto* t = reinterpret_cast<const typename L::Word*>(target);
    ElementChunk chunk;
    ElementStripes sums;
    clearOf(sums);
    for (std::size_t i = 0; i < count; i += blockSize<L>()) {
        const ElementChunk block =
            compareBlock<L>(r + i, t + i, std::min(blockSize<L>(), count - i), sums);
        if (chunk.classChanges == 0)
            chunk.firstChange = i + block.firstChange;
        if (block.maxAbs > chunk.maxAbs)
            chunk.largestBegin = i + block.largestBegin;
        chunk.unequal += block.unequal;
        chunk.classChanges += block.classChanges;
        chunk.finite += block.finite;
        chunk.normal = chunk.normal && block.normal;
        chunk.maxUlp = std::max(chunk.maxUlp, block.maxUlp);
        chunk.sumUlp += block.sumUlp;
        chunk.maxAbs = std::max(chunk.maxAbs, block.maxAbs);
    }
    addTo(stripes, sums);
    return chunk;
}

ElementChunk compareChunkOf(const std::byte* reference, const std::byte* target, DType dtype,
                            std::size_t count, ElementStripes& stripes)
{
    switch (dtype) {
    case DType::BF16:
        return compareAs<Bf16Layout>(reference, target, count, stripes);
    case DType::FP16:
        return compareAs<Fp16Layout>(reference, target, count, stripes);
    default:
        return compareAs<Fp32Layout>(reference, target, count, stripes);
    }
}

double totalOfStripes(const double* stripes)
{
    const hn::CappedTag<double, 2> d;
    constexpr std::size_t lanes = hn::MaxLanes(d);
    double s[elementStripes / 2];
    for (std::size_t i = 0; i < elementStripes / 2; i += lanes)
        hn::StoreU(hn::Add(hn::Load(d, stripes + i), hn::Load(d, stripes + i + elementStripes / 2)),
                   d, s + i);
    for (std::size_t half = elementStripes / 4; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            s[i] += s[i + half];
    return s[0];
}

void totalsOf(const ElementStripes& stripes, ElementSums& sums)
{
    sums.sumAbs = totalOfStripes(stripes.sumAbs);
    sums.sumSquares = totalOfStripes(stripes.sumSquares);
    sums.referenceSquares = totalOfStripes(stripes.referenceSquares);
    sums.targetSquares = totalOfStripes(stripes.targetSquares);
    sums.dot = totalOfStripes(stripes.dot);
}

template <class L>
std::size_t findAs(const std::byte* reference, const std::byte* target, std::size_t count,
                   double maxAbs)
{
    const DoubleTag d;
    const auto* r = reinterpret_cast<const typename L::Word*>(reference);
    const auto* t = reinterpret_cast<const typename L::Word*>(target);
    for (std::size_t i = 0; i < count; i += doubleLanes) {
        const auto difference =
            hn::Sub(hn::PromoteTo(d, widen(L{}, t + i)), hn::PromoteTo(d, widen(L{}, r + i)));
        const auto place = hn::FindFirstTrue(d, hn::Eq(hn::Abs(difference), hn::Set(d, maxAbs)));
        if (place >= 0)
            return i + static_cast<std::size_t>(place);
    }
    return count;
}

std::size_t findDifferenceOf(const std::byte* reference, const std::byte* target, DType dtype,
                             std::size_t count, double maxAbs)
{
    switch (dtype) {
    case DType::BF16:
        return findAs<Bf16Layout>(reference, target, count, maxAbs);
    case DType::FP16:
        return findAs<Fp16Layout>(reference, target, count, maxAbs);
    default:
        return findAs<Fp32Layout>(reference, target, count, maxAbs);
    }
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(clearOf);
HWY_EXPORT(totalsOf);
HWY_EXPORT(compareChunkOf);
HWY_EXPORT(findDifferenceOf);

void clearStripes(ElementStripes& stripes)
{
    HWY_DYNAMIC_DISPATCH(clearOf)(stripes);
}

void totalStripes(const ElementStripes& stripes, ElementSums& sums)
{
    HWY_DYNAMIC_DISPATCH(totalsOf)(stripes, sums);
}

ElementChunk compareChunk(const std::byte* reference, const std::byte* target, DType dtype,
                          std::size_t count, ElementStripes& stripes)
{
    return HWY_DYNAMIC_DISPATCH(compareChunkOf)(reference, target, dtype, count, stripes);
}

std::size_t findDifference(const std::byte* reference, const std::byte* target, DType dtype,
                           std::size_t count, double maxAbs)
{
    return HWY_DYNAMIC_DISPATCH(findDifferenceOf)(reference, target, dtype, count, maxAbs);
}

} // namespace moire::numeric
#endif
