// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/numeric/logits_kernel.h"

#include <cmath>
#include <limits>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/numeric/logits_spread_kernel.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "core/numeric/logits_chunk_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::numeric::HWY_NAMESPACE {

HWY_INLINE float largestOf(hn::Vec<ShortTag> v)
{
    HWY_ALIGN float lane[shortLanes];
    hn::Store(v, ShortTag(), lane);
    return *std::max_element(lane, lane + shortLanes);
}

void largestOfChunksOf(const std::byte* data, DType dtype, std::size_t count, float* largest)
{
    const ShortTag d;
    constexpr float lowest = std::numeric_limits<float>::lowest();
    FloatChunk chunk(data, dtype, count, lowest);
    for (std::size_t begin = 0; begin < count; begin += logitsChunk) {
        const float* values = chunk.at(begin);
        auto best = hn::Set(d, lowest);
        for (std::size_t i = 0; i < chunk.filled(begin); i += shortLanes)
            best = hn::Max(best, hn::LoadU(d, values + i));
        *largest++ = largestOf(best);
    }
}

void collectOf(const std::byte* data, DType dtype, std::size_t count, const float* largest,
               float bound, std::vector<Ranked>& found)
{
    const ShortTag d;
    const auto least = hn::Set(d, bound);
    FloatChunk chunk(data, dtype, count, std::numeric_limits<float>::lowest());
    for (std::size_t begin = 0; begin < count; begin += logitsChunk) {
        if (!(*largest++ >= bound))
            continue;
        const float* values = chunk.at(begin);
        const std::size_t real = std::min(logitsChunk, count - begin);
        for (std::size_t i = 0; i < chunk.filled(begin); i += shortLanes) {
            if (hn::AllFalse(d, hn::Ge(hn::LoadU(d, values + i), least)))
                continue;
            for (std::size_t j = i; j < std::min(i + shortLanes, real); ++j)
                if (values[j] >= bound)
                    found.push_back({static_cast<std::int32_t>(begin + j), values[j]});
        }
    }
}

/// The upper halves of fp32 bits after rounding to bf16, to nearest even.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<ShortTag>> rounded(hn::Vec<ShortTag> v)
{
    const hn::RebindToUnsigned<ShortTag> u;
    const auto bits = hn::BitCast(u, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1U));
    return hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(u, 0x7FFFU), odd)));
}

ChunkSpread spreadOfChunk(const float* r, const float* t, std::size_t filled, std::size_t real,
                          float floor)
{
    const ShortTag d;
    const hn::RebindToUnsigned<ShortTag> u;
    auto unequal = hn::Zero(u);
    auto relative = hn::Zero(d);
    for (std::size_t i = 0; i < filled; i += shortLanes) {
        const auto a = hn::LoadU(d, r + i);
        const auto b = hn::LoadU(d, t + i);
        const auto differs = hn::VecFromMask(u, hn::Ne(rounded(a), rounded(b)));
        unequal = hn::Sub(unequal, differs);
        relative = hn::Max(relative,
                           hn::Div(hn::Abs(hn::Sub(b, a)), hn::Add(hn::Abs(a), hn::Set(d, floor))));
    }
    HWY_ALIGN std::uint32_t lane[shortLanes];
    hn::Store(unequal, u, lane);
    auto equal = static_cast<std::uint32_t>(real); // what fills the chunk is equal
    for (const std::uint32_t count : lane)
        equal -= count;
    return {equal, largestOf(relative)};
}

double spreadOf(const LogitsRows& rows, double mean, float floor, ChunkSpread* chunks)
{
    const DoubleTag d;
    const FloatTag f;
    FloatChunk reference(rows.reference, rows.referenceType, rows.count, 0);
    FloatChunk target(rows.target, rows.targetType, rows.count, 0);
    alignas(64) double sums[elementStripes] = {};
    const auto middle = hn::Set(d, mean);
    for (std::size_t at = 0; at < rows.count; at += logitsChunk) {
        const float* r = reference.at(at);
        const float* t = target.at(at);
        const std::size_t real = std::min(logitsChunk, rows.count - at);
        const std::size_t whole = real / elementStripes * elementStripes;
        *chunks++ = spreadOfChunk(r, t, reference.filled(at), real, floor);
        for (std::size_t begin = 0; begin < elementStripes; begin += doubleLanes) {
            auto sum = hn::Load(d, sums + begin);
            for (std::size_t i = begin; i < whole; i += elementStripes) {
                const auto centred = hn::Sub(hn::Sub(hn::PromoteTo(d, hn::LoadU(f, t + i)),
                                                     hn::PromoteTo(d, hn::LoadU(f, r + i))),
                                             middle);
                sum = hn::Add(sum, hn::Mul(centred, centred));
            }
            hn::Store(sum, d, sums + begin);
        }
        for (std::size_t i = whole; i < real; ++i) {
            const double centred = static_cast<double>(t[i]) - static_cast<double>(r[i]) - mean;
            sums[i - whole] += centred * centred;
        }
    }
    return totalOf(sums);
}

template <class L>
FieldSums fieldsAs(const std::byte* reference, const std::byte* target, std::size_t count)
{
    const typename L::Tag d;
    using Word = typename L::Word;
    constexpr auto mantissa = static_cast<Word>(L::smallestNormal - 1);
    const auto* r = reinterpret_cast<const Word*>(reference);
    const auto* t = reinterpret_cast<const Word*>(target);
    FieldSums sums;
    // As many as a lane can count.
    constexpr std::size_t block = 128 * L::lanes;
    std::size_t i = 0;
    while (i + L::lanes <= count) {
        const std::size_t end = std::min(i + block, count / L::lanes * L::lanes);
        auto matched = hn::Zero(d);
        WideSum<typename L::Tag> distance;
        for (; i < end; i += L::lanes) {
            const auto a = hn::LoadU(d, r + i);
            const auto b = hn::LoadU(d, t + i);
            const auto same = hn::VecFromMask(
                d, hn::Eq(hn::AndNot(hn::Set(d, mantissa), hn::Xor(a, b)), hn::Zero(d)));
            matched = hn::Sub(matched, same);
            distance.add(hn::And(same, hn::Sub(hn::Max(a, b), hn::Min(a, b))));
        }
        sums.matched += sumOfLanes(d, matched);
        sums.distance += distance.total();
    }
    for (; i < count; ++i) {
        const Word a = r[i];
        const Word b = t[i];
        if (((a ^ b) & static_cast<Word>(~mantissa)) != 0)
            continue;
        ++sums.matched;
        sums.distance += static_cast<std::uint64_t>(std::max(a, b) - std::min(a, b));
    }
    return sums;
}

FieldSums fieldsOf(const std::byte* reference, const std::byte* target, DType dtype,
                   std::size_t count)
{
    if (dtype == DType::BF16)
        return fieldsAs<Bf16Layout>(reference, target, count);
    return dtype == DType::FP16 ? fieldsAs<Fp16Layout>(reference, target, count)
                                : fieldsAs<Fp32Layout>(reference, target, count);
}

} // namespace moire::numeric::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::numeric {

HWY_EXPORT(largestOfChunksOf);
HWY_EXPORT(collectOf);
HWY_EXPORT(spreadOf);
HWY_EXPORT(fieldsOf);

void largestOfChunks(const std::byte* data, DType dtype, std::size_t count, float* largest)
{
    HWY_DYNAMIC_DISPATCH(largestOfChunksOf)(data, dtype, count, largest);
}

void collectAtLeast(const std::byte* data, DType dtype, std::size_t count, const float* largest,
                    float bound, std::vector<Ranked>& found)
{
    HWY_DYNAMIC_DISPATCH(collectOf)(data, dtype, count, largest, bound, found);
}

double spreadOfChunks(const LogitsRows& rows, double mean, float floor, ChunkSpread* chunks)
{
    return HWY_DYNAMIC_DISPATCH(spreadOf)(rows, mean, floor, chunks);
}

FieldSums compareFields(const std::byte* reference, const std::byte* target, DType dtype,
                        std::size_t count)
{
    return HWY_DYNAMIC_DISPATCH(fieldsOf)(reference, target, dtype, count);
}

} // namespace moire::numeric
#endif
