// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/rank_sums.h"

#include "capture/device/storage.h"

#include <bit>
#include <cassert>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/rank_sums.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/values_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

using Partials = std::span<const void* const>;

template <class T>
const T* elementsOf(Partials partials, std::size_t rank)
{
    return static_cast<const T*>(partials[rank]);
}

void foldRanks(Partials partials, numeric::DType type, std::size_t begin, std::size_t end,
               bool roundEach, void* out)
{
    withStorage(type, [&](auto t) {
        using T = decltype(t);
        overElements(end - begin, [&](auto d, std::size_t offset) {
            const std::size_t i = begin + offset;
            auto sum = load(d, elementsOf<T>(partials, 0) + i);
            for (std::size_t rank = 1; rank < partials.size(); ++rank) {
                sum = hn::Add(sum, load(d, elementsOf<T>(partials, rank) + i));
                if (roundEach)
                    sum = rounded<T>(d, sum);
            }
            store(d, sum, static_cast<T*>(out) + i);
        });
    });
}

/// The sum of `count` ranks from `first` on, a power of two of them.
template <class T, class D>
hn::Vec<D> treeOfRanks(D d, Partials partials, std::size_t first, std::size_t count, std::size_t i)
{
    if (count == 1)
        return load(d, elementsOf<T>(partials, first) + i);
    const auto lower = treeOfRanks<T>(d, partials, first, count / 2, i);
    const auto upper = treeOfRanks<T>(d, partials, first + count / 2, count / 2, i);
    return rounded<T>(d, hn::Add(lower, upper));
}

void joinRanks(Partials partials, numeric::DType type, std::size_t begin, std::size_t end,
               void* out)
{
    withStorage(type, [&](auto t) {
        using T = decltype(t);
        overElements(end - begin, [&](auto d, std::size_t offset) {
            const std::size_t i = begin + offset;
            store(d, treeOfRanks<T>(d, partials, 0, partials.size(), i), static_cast<T*>(out) + i);
        });
    });
}

void narrowFloats(const float* in, numeric::DType type, std::size_t begin, std::size_t end,
                  void* out)
{
    withStorage(type, [&](auto t) {
        overElements(end - begin, [&](auto d, std::size_t offset) {
            const std::size_t i = begin + offset;
            store(d, load(d, in + i), static_cast<decltype(t)*>(out) + i);
        });
    });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(foldRanks);
HWY_EXPORT(joinRanks);
HWY_EXPORT(narrowFloats);

void sumInOrder(std::span<const void* const> partials, numeric::DType type, std::size_t begin,
                std::size_t end, RankRounding rounding, void* out)
{
    assert(!partials.empty());
    HWY_DYNAMIC_DISPATCH(foldRanks)
    (partials, type, begin, end, rounding == RankRounding::Each, out);
}

void sumAsTree(std::span<const void* const> partials, numeric::DType type, std::size_t begin,
               std::size_t end, void* out)
{
    assert(std::has_single_bit(partials.size()));
    HWY_DYNAMIC_DISPATCH(joinRanks)(partials, type, begin, end, out);
}

void narrowElements(const float* in, numeric::DType outType, std::size_t begin, std::size_t end,
                    void* out)
{
    HWY_DYNAMIC_DISPATCH(narrowFloats)(in, outType, begin, end, out);
}

} // namespace moire::capture::device
#endif
