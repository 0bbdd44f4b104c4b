// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_linear.h"

#include "capture/device/storage.h"

#include <algorithm>
#include <cstring>
#include <new>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/ordered_linear.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/tile_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_ORDERED_LINEAR_ONCE
#define MOIRE_CAPTURE_DEVICE_ORDERED_LINEAR_ONCE
namespace moire::capture::device {

/// Steps of the inner index between which sums go through memory: keeps a panel in the first-level
/// cache. Does not change bits.
inline constexpr std::size_t blockDepth = 256;
inline constexpr std::size_t blockTiles = 24; ///< most tiles of rows in one piece of work
inline constexpr std::size_t blockPanels = 8; ///< most panels

/// One piece of work: some tiles of rows × some panels of outputs.
struct LinearPiece
{
    const PackedLinear* weight;
    const float* left; ///< all rows as tiles: inputs × 6, the last one inputs × (rest)
    std::size_t rows;
    std::size_t tileBegin, tileEnd;
    std::size_t panelBegin, panelEnd;
    void* out;
    numeric::DType outType;
    std::size_t outStride;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

template <class T>
void widenPanel(const T* panel, std::size_t depth, float* out)
{
    const FloatTag d;
    for (std::size_t k = 0; k < depth; ++k) {
        FloatVector columns[vectorsPerGroup];
        loadColumns(panel + k * stripes, columns);
        for (std::size_t v = 0; v < vectorsPerGroup; ++v)
            hn::Store(columns[v], d, out + k * stripes + v * lanes);
    }
}

template <class T>
void accumulate(const LinearPiece& piece, float* sums)
{
    const PackedLinear& weight = *piece.weight;
    const std::size_t inputs = weight.inputs();
    const std::size_t panelCount = piece.panelEnd - piece.panelBegin;
    const std::size_t panelStep = inputs * stripes;
    const auto* panels = reinterpret_cast<const T*>(weight.panel(piece.panelBegin));
    constexpr std::size_t sumStride = blockPanels * stripes;
    constexpr std::size_t together = panelsAtOnce(tileRows);
    HWY_ALIGN float widePanels[together * blockDepth * stripes];
    const bool oneTile = piece.tileEnd - piece.tileBegin == 1;
    for (std::size_t k = 0; k < inputs; k += blockDepth) {
        const std::size_t depth = std::min(blockDepth, inputs - k);
        const std::size_t step = oneTile ? panelCount : together;
        for (std::size_t p = 0; p < panelCount; p += step) {
            const std::size_t count = std::min(step, panelCount - p);
            const T* right = panels + p * panelStep + k * stripes;
            const bool widenFirst = !std::is_same_v<T, float> && !oneTile;
            if (widenFirst)
                for (std::size_t i = 0; i < count; ++i)
                    widenPanel(right + i * panelStep, depth, widePanels + i * blockDepth * stripes);
            for (std::size_t t = piece.tileBegin; t < piece.tileEnd; ++t) {
                const std::size_t row = t * tileRows;
                const std::size_t height = std::min(tileRows, piece.rows - row);
                const float* left = piece.left + row * inputs + k * height;
                float* out = sums + (row - piece.tileBegin * tileRows) * sumStride + p * stripes;
                if (widenFirst)
                    multiplyPanels(height, left, widePanels, stripes, blockDepth * stripes, count,
                                   depth, out, sumStride, k == 0);
                else
                    multiplyPanels(height, left, right, stripes, panelStep, count, depth, out,
                                   sumStride, k == 0);
            }
        }
    }
}

template <class T>
void finishRow(const LinearPiece& piece, const float* sums, std::size_t row)
{
    const float* bias = piece.weight->bias();
    const std::size_t begin = piece.panelBegin * stripes;
    const std::size_t end = std::min(piece.panelEnd * stripes, piece.weight->outputs());
    T* out = static_cast<T*>(piece.out) + row * piece.outStride + begin;
    overElements(end - begin, [&](auto tag, std::size_t i) {
        auto value = hn::LoadU(tag, sums + i);
        if (bias)
            value = hn::Add(value, hn::LoadU(tag, bias + begin + i));
        store(tag, value, out + i);
    });
}

void computePiece(const LinearPiece& piece)
{
    HWY_ALIGN float sums[blockTiles * tileRows * blockPanels * stripes];
    withStorage(piece.weight->dtype(), [&](auto t) { accumulate<decltype(t)>(piece, sums); });
    const std::size_t rowBegin = piece.tileBegin * tileRows;
    const std::size_t rowEnd = std::min(piece.rows, piece.tileEnd * tileRows);
    withStorage(piece.outType, [&](auto t) {
        for (std::size_t row = rowBegin; row < rowEnd; ++row)
            finishRow<decltype(t)>(piece, sums + (row - rowBegin) * blockPanels * stripes, row);
    });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(computePiece);

namespace {

constexpr std::size_t cacheLine = 64;

std::shared_ptr<std::byte[]> alignedBytes(std::size_t size)
{
    auto* bytes = static_cast<std::byte*>(::operator new(size, std::align_val_t(cacheLine)));
    return {bytes, [](std::byte* p) { ::operator delete(p, std::align_val_t(cacheLine)); }};
}

/// Where column j of a step lies: fp32 in order, 16-bit as words of column j and j + 8.
template <class T>
constexpr std::size_t placeOf(std::size_t column)
{
    if constexpr (std::is_same_v<T, float>)
        return column;
    return column < stripes / 2 ? 2 * column : 2 * (column - stripes / 2) + 1;
}

template <class T>
void packPanel(const T* weight, std::size_t stride, std::size_t count, std::size_t inputs, T* panel)
{
    for (std::size_t j = 0; j < stripes; ++j) {
        T* place = panel + placeOf<T>(j);
        if (j < count) {
            const T* row = weight + j * stride;
            for (std::size_t k = 0; k < inputs; ++k)
                place[k * stripes] = row[k];
        } else {
            for (std::size_t k = 0; k < inputs; ++k)
                place[k * stripes] = T{};
        }
    }
}

/// Rows [first, first + height) as inputs × height, widened.
template <class T>
void packTile(const T* in, std::size_t stride, std::size_t first, std::size_t height,
              std::size_t inputs, float* tile)
{
    for (std::size_t m = 0; m < height; ++m) {
        const T* row = in + (first + m) * stride;
        for (std::size_t k = 0; k < inputs; ++k)
            tile[k * height + m] = widened(row[k]);
    }
}

std::size_t ceilDivide(std::size_t a, std::size_t b)
{
    return (a + b - 1) / b;
}

} // namespace

PackedLinear::PackedLinear(const void* weight, numeric::DType dtype, std::size_t outputs,
                           std::size_t inputs, std::size_t stride, const void* bias,
                           Workers& workers)
    : m_dtype(dtype)
    , m_outputs(outputs)
    , m_inputs(inputs)
    , m_panelBytes(inputs * panelWidth * numeric::sizeOf(dtype))
{
    static_assert(panelWidth == stripes);
    const auto storage = alignedBytes(panels() * m_panelBytes);
    withStorage(dtype, [&](auto t) {
        using T = decltype(t);
        workers.run(panels(), [&](std::size_t p) {
            packPanel(static_cast<const T*>(weight) + p * stripes * stride, stride,
                      std::min(stripes, outputs - p * stripes), inputs,
                      reinterpret_cast<T*>(storage.get() + p * m_panelBytes));
        });
        if (bias) {
            auto wide = std::make_shared<std::vector<float>>(panels() * stripes);
            for (std::size_t i = 0; i < outputs; ++i)
                (*wide)[i] = widened(static_cast<const T*>(bias)[i]);
            m_bias = std::move(wide);
        }
    });
    m_panels = storage;
}

void linear(const void* in, numeric::DType inType, std::size_t inStride, std::size_t rows,
            const PackedLinear& weight, void* out, numeric::DType outType, std::size_t outStride,
            Workers& workers)
{
    if (rows == 0 || weight.outputs() == 0)
        return;
    const std::size_t inputs = weight.inputs();
    const std::size_t tiles = ceilDivide(rows, tileRows);
    const auto left = std::make_unique_for_overwrite<float[]>(rows * inputs + 1);
    withStorage(inType, [&](auto t) {
        const auto* data = static_cast<const decltype(t)*>(in);
        workers.run(tiles, [&](std::size_t i) {
            const std::size_t row = i * tileRows;
            packTile(data, inStride, row, std::min(tileRows, rows - row), inputs,
                     left.get() + row * inputs);
        });
    });
    const std::size_t rowBlocks = ceilDivide(tiles, blockTiles);
    const std::size_t tilesEach = ceilDivide(tiles, rowBlocks);
    const std::size_t shares =
        4UL * workers.threads(); // pieces a thread, so that they end together
    const std::size_t panelsEach =
        std::clamp<std::size_t>(weight.panels() / shares, 1, blockPanels);
    const std::size_t panelBlocks = ceilDivide(weight.panels(), panelsEach);
    const auto compute = HWY_DYNAMIC_DISPATCH(computePiece);
    workers.run(rowBlocks * panelBlocks, [&](std::size_t i) {
        const std::size_t tile = i % rowBlocks * tilesEach;
        const std::size_t panel = i / rowBlocks * panelsEach;
        if (tile >= tiles)
            return;
        compute({&weight, left.get(), rows, tile, std::min(tiles, tile + tilesEach), panel,
                 std::min(weight.panels(), panel + panelsEach), out, outType, outStride});
    });
}

} // namespace moire::capture::device
#endif
