// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CAPTURE_DEVICE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CAPTURE_DEVICE_TILE_INL_H
#undef MOIRE_CAPTURE_DEVICE_TILE_INL_H
#else
#define MOIRE_CAPTURE_DEVICE_TILE_INL_H
#endif

#include "capture/device/values_inl.h"

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

/// Panels that a tile of `rows` rows works on at once, so that there are enough independent sums to
/// hide the latency of the multiply-add and few enough to stay in registers.
constexpr std::size_t panelsAtOnce(std::size_t rows)
{
    if (vectorsPerGroup == 1)
        return 4;
    if (vectorsPerGroup == 2)
        return rows == 1 ? 4 : (rows <= 3 ? 2 : 1);
    return 1;
}

/// The 16 values of one step of a panel. 16-bit panels hold words: column j below column j + 8.
HWY_INLINE void loadColumns(const float* step, FloatVector* columns)
{
    const FloatTag d;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < vectorsPerGroup; ++v)
        columns[v] = hn::LoadU(d, step + v * lanes);
}

template <class T>
HWY_INLINE void loadColumns(const T* step, FloatVector* columns)
{
    const FloatTag d;
    const auto* words = reinterpret_cast<const std::uint32_t*>(step);
#if HWY_MAX_BYTES >= 64
    if constexpr (lanes == stripes) {
        const hn::Half<FloatTag> dh;
        const hn::RebindToUnsigned<decltype(dh)> du;
        const auto word = hn::LoadU(du, words);
        columns[0] = hn::Combine(d, widen(dh, T{}, hn::ShiftRight<16>(word)),
                                 widen(dh, T{}, hn::And(word, hn::Set(du, 0xFFFFU))));
        return;
    }
#endif
    const hn::RebindToUnsigned<FloatTag> du;
    constexpr std::size_t half = vectorsPerGroup / 2;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < half; ++v) {
        const auto word = hn::LoadU(du, words + v * lanes);
        if constexpr (std::is_same_v<T, Bf16>) {
            columns[v] = hn::BitCast(d, hn::ShiftLeft<16>(word));
            columns[half + v] = hn::BitCast(d, hn::And(word, hn::Set(du, 0xFFFF0000U)));
        } else {
            columns[v] = widen(d, T{}, hn::And(word, hn::Set(du, 0xFFFFU)));
            columns[half + v] = widen(d, T{}, hn::ShiftRight<16>(word));
        }
    }
}

/// One block of a matrix product: `Rows` rows × `Panels` panels, `depth` steps.
/// left: depth × Rows. right: step k of panel p at right + p·panelStep + k·rightStep. sums: row m
/// at sums + m·sumStride, 16 values a panel; continued from what they hold unless `fresh`.
template <class T, std::size_t Rows, std::size_t Panels>
HWY_INLINE void multiplyTile(const float* HWY_RESTRICT left, const T* HWY_RESTRICT right,
                             std::size_t rightStep, std::size_t panelStep, std::size_t depth,
                             float* HWY_RESTRICT sums, std::size_t sumStride, bool fresh)
{
    const FloatTag d;
    constexpr std::size_t width = Panels * vectorsPerGroup;
    FloatVector sum[Rows][width];
#pragma GCC unroll 16
    for (std::size_t m = 0; m < Rows; ++m)
#pragma GCC unroll 16
        for (std::size_t j = 0; j < width; ++j)
            sum[m][j] = fresh ? hn::Zero(d) : hn::LoadU(d, sums + m * sumStride + j * lanes);
    for (std::size_t k = 0; k < depth; ++k) {
        FloatVector columns[width];
#pragma GCC unroll 16
        for (std::size_t p = 0; p < Panels; ++p)
            loadColumns(right + p * panelStep + k * rightStep, columns + p * vectorsPerGroup);
#pragma GCC unroll 16
        for (std::size_t m = 0; m < Rows; ++m) {
            const FloatVector value = hn::Set(d, left[k * Rows + m]);
#pragma GCC unroll 16
            for (std::size_t j = 0; j < width; ++j)
                sum[m][j] = fused(d, value, columns[j], sum[m][j]);
        }
    }
#pragma GCC unroll 16
    for (std::size_t m = 0; m < Rows; ++m)
#pragma GCC unroll 16
        for (std::size_t j = 0; j < width; ++j)
            hn::StoreU(sum[m][j], d, sums + m * sumStride + j * lanes);
}

template <class T, std::size_t Rows>
void multiplyPanels(const float* left, const T* right, std::size_t rightStep, std::size_t panelStep,
                    std::size_t panels, std::size_t depth, float* sums, std::size_t sumStride,
                    bool fresh)
{
    constexpr std::size_t together = panelsAtOnce(Rows);
    std::size_t p = 0;
    for (; p + together <= panels; p += together)
        multiplyTile<T, Rows, together>(left, right + p * panelStep, rightStep, panelStep, depth,
                                        sums + p * stripes, sumStride, fresh);
    if constexpr (together > 1)
        for (; p < panels; ++p)
            multiplyTile<T, Rows, 1>(left, right + p * panelStep, rightStep, panelStep, depth,
                                     sums + p * stripes, sumStride, fresh);
}

/// The same for a number of rows known at run time, 1 to tileRows.
template <class T>
void multiplyPanels(std::size_t rows, const float* left, const T* right, std::size_t rightStep,
                    std::size_t panelStep, std::size_t panels, std::size_t depth, float* sums,
                    std::size_t sumStride, bool fresh)
{
    static_assert(tileRows == 6);
    using Kernel = void (*)(const float*, const T*, std::size_t, std::size_t, std::size_t,
                            std::size_t, float*, std::size_t, bool);
    static constexpr Kernel kernels[tileRows] = {multiplyPanels<T, 1>, multiplyPanels<T, 2>,
                                                 multiplyPanels<T, 3>, multiplyPanels<T, 4>,
                                                 multiplyPanels<T, 5>, multiplyPanels<T, 6>};
    kernels[rows - 1](left, right, rightStep, panelStep, panels, depth, sums, sumStride, fresh);
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
