// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Included once for each instruction set: the guard turns with HWY_TARGET.
#if defined(MOIRE_CAPTURE_DEVICE_PANEL_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIRE_CAPTURE_DEVICE_PANEL_PRODUCT_INL_H
#undef MOIRE_CAPTURE_DEVICE_PANEL_PRODUCT_INL_H
#else
#define MOIRE_CAPTURE_DEVICE_PANEL_PRODUCT_INL_H
#endif

#include "capture/device/panel_product.h"
#include "capture/device/tile_inl.h"

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

/// Inputs [begin, end) of the product's into sums: row m of the first tile's at sums +
/// m · sumStride, 16 a panel. One accumulator each, by fused multiply-add in ascending order, from
/// +0 when `fresh`, else on from what is there.
template <class T>
void accumulate(const PanelProduct& product, std::size_t begin, std::size_t end, float* sums,
                std::size_t sumStride, bool fresh)
{
    const std::size_t panelCount = product.panels();
    const std::size_t panelStep = product.weight->inputs() * stripes;
    const T* panels = reinterpret_cast<const T*>(product.weight->panel(product.panelBegin))
                      + product.firstInput * stripes;
    constexpr std::size_t together = panelsAtOnce(tileRows);
    HWY_ALIGN float widePanels[together * blockDepth * stripes];
    const bool oneTile = product.tileEnd - product.tileBegin == 1;
    for (std::size_t k = begin; k < end; k += blockDepth) {
        const std::size_t depth = std::min(blockDepth, end - k);
        const std::size_t step = oneTile ? panelCount : together;
        for (std::size_t p = 0; p < panelCount; p += step) {
            const std::size_t count = std::min(step, panelCount - p);
            const T* right = panels + p * panelStep + k * stripes;
            const bool widenFirst = !std::is_same_v<T, float> && !oneTile;
            if (widenFirst)
                for (std::size_t i = 0; i < count; ++i)
                    widenPanel(right + i * panelStep, depth, widePanels + i * blockDepth * stripes);
            for (std::size_t t = product.tileBegin; t < product.tileEnd; ++t) {
                const std::size_t row = t * tileRows;
                const std::size_t height = std::min(tileRows, product.rows - row);
                const float* left = product.left + row * product.inputs + k * height;
                float* out = sums + (row - product.rowBegin()) * sumStride + p * stripes;
                if (widenFirst)
                    multiplyPanels(height, left, widePanels, stripes, blockDepth * stripes, count,
                                   depth, out, sumStride, fresh && k == begin);
                else
                    multiplyPanels(height, left, right, stripes, panelStep, count, depth, out,
                                   sumStride, fresh && k == begin);
            }
        }
    }
}

/// Sums of the product's rows and panels, plus the weight's bias, rounded to rows of T.
template <class T>
void finishRows(const PanelProduct& product, const float* sums, std::size_t sumStride, T* out,
                std::size_t outStride)
{
    const float* bias = product.weight->bias();
    const std::size_t begin = product.panelBegin * stripes;
    const std::size_t end = std::min(product.panelEnd * stripes, product.weight->outputs());
    for (std::size_t row = product.rowBegin(); row < product.rowEnd(); ++row) {
        const float* from = sums + (row - product.rowBegin()) * sumStride;
        T* to = out + row * outStride + begin;
        overElements(end - begin, [&](auto tag, std::size_t i) {
            auto value = hn::LoadU(tag, from + i);
            if (bias)
                value = hn::Add(value, hn::LoadU(tag, bias + begin + i));
            store(tag, value, to + i);
        });
    }
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
