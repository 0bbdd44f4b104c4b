// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_linear.h"

#include "capture/device/panel_product.h"
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
#include "capture/device/panel_product_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_ORDERED_LINEAR_ONCE
#define MOIRE_CAPTURE_DEVICE_ORDERED_LINEAR_ONCE
namespace moire::capture::device {

inline constexpr std::size_t blockTiles = 24; ///< most tiles of rows in one piece of work
inline constexpr std::size_t blockPanels = 8; ///< most panels

/// One piece of work and where it goes.
struct LinearPiece
{
    PanelProduct product;
    void* out;
    numeric::DType outType;
    std::size_t outStride;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

void computePiece(const LinearPiece& piece)
{
    constexpr std::size_t sumStride = blockPanels * stripes;
    HWY_ALIGN float sums[blockTiles * tileRows * sumStride];
    withStorage(piece.product.weight->dtype(), [&](auto t) {
        accumulate<decltype(t)>(piece.product, 0, piece.product.inputs, sums, sumStride, true);
    });
    withStorage(piece.outType, [&](auto t) {
        finishRows(piece.product, sums, sumStride, static_cast<decltype(t)*>(piece.out),
                   piece.outStride);
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
    const auto left = leftTiles(in, inType, inStride, rows, weight.inputs(), workers);
    const PieceGrid grid(rows, weight.panels(), blockTiles, blockPanels, workers.threads());
    const auto compute = HWY_DYNAMIC_DISPATCH(computePiece);
    workers.run(grid.count(), [&](std::size_t i) {
        LinearPiece piece{
            {&weight, left.get(), rows, weight.inputs(), 0, 0, 0, 0, 0}, out, outType, outStride};
        if (grid.place(i, piece.product))
            compute(piece);
    });
}

} // namespace moire::capture::device
#endif
