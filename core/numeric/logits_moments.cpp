// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_kernel.h"

#include <limits>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/logits_moments.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/logits_chunk_inl.h"
#include "core/numeric/logits_curves_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

template <class L>
bool allFiniteAs(const std::byte* data, std::size_t count)
{
    const typename L::SignedTag s;
    const auto* words = reinterpret_cast<const typename L::Word*>(data);
    constexpr auto mask = static_cast<typename L::Signed>(
        (typename L::Word{1} << static_cast<unsigned>(L::signBit)) - 1);
    auto largest = hn::Zero(s);
    std::size_t i = 0;
    for (; i + L::lanes <= count; i += L::lanes)
        largest = hn::Max(largest, hn::And(hn::BitCast(s, hn::LoadU(typename L::Tag(), words + i)),
                                           hn::Set(s, mask)));
    if (largestLane(s, largest) >= static_cast<std::uint64_t>(L::infinity))
        return false;
    for (; i < count; ++i) {
        typename L::Word word;
        std::memcpy(&word, words + i, sizeof word);
        if ((word & static_cast<typename L::Word>(mask)) >= L::infinity)
            return false;
    }
    return true;
}

bool allFiniteOf(const std::byte* data, DType dtype, std::size_t count)
{
    if (dtype == DType::BF16)
        return allFiniteAs<Bf16Layout>(data, count);
    return dtype == DType::FP16 ? allFiniteAs<Fp16Layout>(data, count)
                                : allFiniteAs<Fp32Layout>(data, count);
}

LargestLogit largestLogitOf(const std::byte* data, DType dtype, std::size_t count)
{
    const ShortTag d;
    constexpr float lowest = std::numeric_limits<float>::lowest();
    FloatChunk chunk(data, dtype, count, lowest);
    LargestLogit best{lowest, 0};
    bool found = false;
    std::size_t bestBegin = 0;
    for (std::size_t begin = 0; begin < count; begin += logitsChunk) {
        const float* values = chunk.at(begin);
        auto largest = hn::Set(d, lowest);
        for (std::size_t i = 0; i < chunk.filled(begin); i += shortLanes)
            largest = hn::Max(largest, hn::LoadU(d, values + i));
        HWY_ALIGN float lane[shortLanes];
        hn::Store(largest, d, lane);
        const float here = *std::max_element(lane, lane + shortLanes);
        if (!found || here > best.value) {
            best.value = here;
            bestBegin = begin;
            found = true;
        }
    }
    const float* values = chunk.at(bestBegin);
    std::size_t i = 0;
    while (!(values[i] == best.value))
        ++i;
    best.index = bestBegin + i;
    return best;
}

double differencesOf(const LogitsRows& rows)
{
    const DoubleTag d;
    const FloatTag f;
    FloatChunk reference(rows.reference, rows.referenceType, rows.count, 0);
    FloatChunk target(rows.target, rows.targetType, rows.count, 0);
    alignas(64) double sums[elementStripes] = {};
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const float* r = reference.at(at);
        const float* t = target.at(at);
        const std::size_t count = reference.filled(at);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            auto sum = hn::Load(d, sums + begin);
            for (std::size_t i = begin; i < count; i += elementStripes)
                sum = hn::Add(sum, hn::Sub(hn::PromoteTo(d, hn::LoadU(f, t + i)),
                                           hn::PromoteTo(d, hn::LoadU(f, r + i))));
            hn::Store(sum, d, sums + begin);
        }
    }
    return totalOf(sums);
}

LogitsMoments momentsOf(const std::byte* data, DType dtype, std::size_t count, float largest,
                        double exponent, double about)
{
    const DoubleTag d;
    const FloatTag f;
    FloatChunk chunk(data, dtype, count, largest - fillDepth);
    alignas(64) double sums[4][elementStripes] = {};
    const auto top = hn::Set(d, static_cast<double>(largest));
    for (std::size_t at = 0; at < count; at += logitsChunk) {
        const float* values = chunk.at(at);
        const std::size_t filled = chunk.filled(at);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            auto weight = hn::Load(d, sums[0] + begin);
            auto first = hn::Load(d, sums[1] + begin);
            auto second = hn::Load(d, sums[2] + begin);
            auto third = hn::Load(d, sums[3] + begin);
            for (std::size_t i = begin; i < filled; i += elementStripes) {
                const auto s = hn::Sub(hn::PromoteTo(d, hn::LoadU(f, values + i)), top);
                const auto w = power(d, hn::Mul(s, hn::Set(d, exponent)));
                const auto centred = hn::Sub(s, hn::Set(d, about));
                const auto wc = hn::Mul(w, centred);
                const auto wcc = hn::Mul(wc, centred);
                weight = hn::Add(weight, w);
                first = hn::Add(first, wc);
                second = hn::Add(second, wcc);
                third = hn::Add(third, hn::Mul(wcc, centred));
            }
            hn::Store(weight, d, sums[0] + begin);
            hn::Store(first, d, sums[1] + begin);
            hn::Store(second, d, sums[2] + begin);
            hn::Store(third, d, sums[3] + begin);
        }
    }
    return {totalOf(sums[0]), totalOf(sums[1]), totalOf(sums[2]), totalOf(sums[3])};
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(allFiniteOf);
HWY_EXPORT(largestLogitOf);
HWY_EXPORT(differencesOf);
HWY_EXPORT(momentsOf);

bool allFinite(const std::byte* data, DType dtype, std::size_t count)
{
    return HWY_DYNAMIC_DISPATCH(allFiniteOf)(data, dtype, count);
}

LargestLogit largestLogit(const std::byte* data, DType dtype, std::size_t count)
{
    return HWY_DYNAMIC_DISPATCH(largestLogitOf)(data, dtype, count);
}

double sumOfDifferences(const LogitsRows& rows)
{
    return HWY_DYNAMIC_DISPATCH(differencesOf)(rows);
}

LogitsMoments momentsOfLogits(const std::byte* data, DType dtype, std::size_t count, float largest,
                              double exponent, double about)
{
    return HWY_DYNAMIC_DISPATCH(momentsOf)(data, dtype, count, largest, exponent, about);
}

} // namespace moire::numeric
#endif
