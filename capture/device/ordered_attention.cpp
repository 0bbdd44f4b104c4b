// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_attention.h"

#include "capture/device/storage.h"

#include <algorithm>
#include <memory>
#include <vector>

// The order is Highway's.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capture/device/ordered_attention.cpp"
#include "core/numeric/simd_policy.h"
#include <hwy/foreach_target.h>
#include "capture/device/softmax_inl.h"
#include "capture/device/tile_inl.h"
// clang-format on

#ifndef MOIRE_CAPTURE_DEVICE_ORDERED_ATTENTION_ONCE
#define MOIRE_CAPTURE_DEVICE_ORDERED_ATTENTION_ONCE
namespace moire::capture::device {

/// Keys and values of all key/value heads, widened and laid out for multiplyPanels.
struct PackedKeys
{
    std::size_t begin = 0;       ///< the first key that any query sees
    std::size_t keys = 0;        ///< how many from there
    std::size_t keyPanels = 0;   ///< panels of 16 keys
    std::size_t valuePanels = 0; ///< panels of 16 elements of a head
    std::unique_ptr<float[]> k;  ///< kvHeads × keyPanels × headDim × 16
    std::unique_ptr<float[]> v;  ///< kvHeads × keys × valuePanels·16
};

/// One piece of work: one tile of query rows of one head.
struct AttentionPiece
{
    const Attention* job;
    const PackedKeys* packed;
    std::size_t head;
    std::size_t rowBegin;
    std::size_t rows;
};

} // namespace moire::capture::device
#endif

HWY_BEFORE_NAMESPACE();
namespace moire::capture::device::HWY_NAMESPACE {

/// round(round(q·k)·scale) of one row, in place.
template <class T>
void scaleScores(float* scores, std::size_t count, float scale)
{
    overElements(count, [&](auto d, std::size_t i) {
        const auto score = rounded<T>(d, hn::LoadU(d, scores + i));
        hn::StoreU(rounded<T>(d, hn::Mul(score, hn::Set(d, scale))), d, scores + i);
    });
}

template <class T>
void roundRow(float* values, std::size_t count)
{
    overElements(count, [&](auto d, std::size_t i) {
        hn::StoreU(rounded<T>(d, hn::LoadU(d, values + i)), d, values + i);
    });
}

/// Σ p·v over each row's own keys: keys that all rows of the tile see go through the tile, the
/// others row by row, so that no row meets a key that it does not see.
void weighValues(const AttentionPiece& piece, const float* probabilities, std::size_t stride,
                 float* sums)
{
    const Attention& job = *piece.job;
    const PackedKeys& packed = *piece.packed;
    const std::size_t width = packed.valuePanels * stripes;
    const float* values =
        packed.v.get() + piece.head / (job.heads / job.kvHeads) * packed.keys * width;
    const auto begin = [&](std::size_t m) {
        return job.keyBegin[piece.rowBegin + m] - packed.begin;
    };
    const auto end = [&](std::size_t m) { return job.keyEnd[piece.rowBegin + m] - packed.begin; };
    std::size_t sharedBegin = 0;
    std::size_t sharedEnd = packed.keys;
    for (std::size_t m = 0; m < piece.rows; ++m) {
        sharedBegin = std::max(sharedBegin, begin(m));
        sharedEnd = std::min(sharedEnd, end(m));
    }
    sharedEnd = std::max(sharedBegin, sharedEnd);
    const auto single = [&](std::size_t m, std::size_t from, std::size_t to, bool fresh) {
        multiplyPanels<float, 1>(probabilities + m * stride + from, values + from * width, width,
                                 stripes, packed.valuePanels, to - from, sums + m * width, width,
                                 fresh);
    };
    for (std::size_t m = 0; m < piece.rows; ++m)
        single(m, begin(m), std::min(sharedBegin, end(m)), true);
    if (sharedEnd > sharedBegin) {
        const std::size_t depth = sharedEnd - sharedBegin;
        const auto left = std::make_unique_for_overwrite<float[]>(depth * piece.rows);
        for (std::size_t m = 0; m < piece.rows; ++m)
            for (std::size_t j = 0; j < depth; ++j)
                left[j * piece.rows + m] = probabilities[m * stride + sharedBegin + j];
        multiplyPanels(piece.rows, left.get(), values + sharedBegin * width, width, stripes,
                       packed.valuePanels, depth, sums, width, false);
    }
    for (std::size_t m = 0; m < piece.rows; ++m)
        if (end(m) > sharedEnd)
            single(m, sharedEnd, end(m), false);
}

template <class T>
void attendAs(const AttentionPiece& piece)
{
    const Attention& job = *piece.job;
    const PackedKeys& packed = *piece.packed;
    const std::size_t panelSize = job.headDim * stripes;
    const std::size_t stride = packed.keyPanels * stripes;
    const std::size_t width = packed.valuePanels * stripes;
    const auto query = std::make_unique_for_overwrite<float[]>(job.headDim * piece.rows);
    for (std::size_t m = 0; m < piece.rows; ++m) {
        const T* row = static_cast<const T*>(job.q) + (piece.rowBegin + m) * job.qRowStride
                       + piece.head * job.qHeadStride;
        for (std::size_t i = 0; i < job.headDim; ++i)
            query[i * piece.rows + m] = widened(row[i]);
    }
    std::size_t begin = packed.keys;
    std::size_t end = 0;
    for (std::size_t m = 0; m < piece.rows; ++m) {
        begin = std::min<std::size_t>(begin, job.keyBegin[piece.rowBegin + m] - packed.begin);
        end = std::max<std::size_t>(end, job.keyEnd[piece.rowBegin + m] - packed.begin);
    }
    const std::size_t panelBegin = begin / stripes;
    const std::size_t panelEnd = (end + stripes - 1) / stripes;
    const auto scores = std::make_unique_for_overwrite<float[]>(piece.rows * stride);
    const float* keys =
        packed.k.get()
        + (piece.head / (job.heads / job.kvHeads) * packed.keyPanels + panelBegin) * panelSize;
    multiplyPanels(piece.rows, query.get(), keys, stripes, panelSize, panelEnd - panelBegin,
                   job.headDim, scores.get() + panelBegin * stripes, stride, true);
    for (std::size_t m = 0; m < piece.rows; ++m) {
        const std::size_t first = job.keyBegin[piece.rowBegin + m] - packed.begin;
        const std::size_t count = job.keyEnd[piece.rowBegin + m] - packed.begin - first;
        float* row = scores.get() + m * stride + first;
        scaleScores<T>(row, count, static_cast<float>(job.scale));
        softmax(row, count);
        roundRow<T>(row, count);
    }
    const auto sums = std::make_unique_for_overwrite<float[]>(piece.rows * width);
    weighValues(piece, scores.get(), stride, sums.get());
    for (std::size_t m = 0; m < piece.rows; ++m) {
        T* row = static_cast<T*>(job.out) + (piece.rowBegin + m) * job.outRowStride
                 + piece.head * job.outHeadStride;
        overElements(job.headDim, [&](auto d, std::size_t i) {
            store(d, hn::LoadU(d, sums.get() + m * width + i), row + i);
        });
    }
}

void attendPiece(const AttentionPiece& piece)
{
    withStorage(piece.job->dtype, [&](auto t) { attendAs<decltype(t)>(piece); });
}

} // namespace moire::capture::device::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moire::capture::device {

HWY_EXPORT(attendPiece);

namespace {

/// Panel `panel` of head `head`: headDim × 16 keys, zeros beyond the last key.
template <class T>
void packKeyPanel(const Attention& job, PackedKeys& packed, std::size_t head, std::size_t panel)
{
    float* out = packed.k.get() + (head * packed.keyPanels + panel) * job.headDim * stripes;
    for (std::size_t j = 0; j < stripes; ++j) {
        const std::size_t key = panel * stripes + j;
        const T* row = static_cast<const T*>(job.k) + (packed.begin + key) * job.kRowStride
                       + head * job.kHeadStride;
        for (std::size_t i = 0; i < job.headDim; ++i)
            out[i * stripes + j] = key < packed.keys ? widened(row[i]) : 0.0F;
    }
}

template <class T>
void packValueRows(const Attention& job, PackedKeys& packed, std::size_t head, std::size_t panel)
{
    const std::size_t width = packed.valuePanels * stripes;
    const std::size_t end = std::min(packed.keys, (panel + 1) * stripes);
    for (std::size_t key = panel * stripes; key < end; ++key) {
        const T* row = static_cast<const T*>(job.v) + (packed.begin + key) * job.vRowStride
                       + head * job.vHeadStride;
        float* out = packed.v.get() + (head * packed.keys + key) * width;
        for (std::size_t i = 0; i < width; ++i)
            out[i] = i < job.headDim ? widened(row[i]) : 0.0F;
    }
}

PackedKeys packKeys(const Attention& job, Workers& workers)
{
    PackedKeys packed;
    packed.begin = *std::min_element(job.keyBegin, job.keyBegin + job.queries);
    packed.keys = *std::max_element(job.keyEnd, job.keyEnd + job.queries) - packed.begin;
    packed.keyPanels = (packed.keys + stripes - 1) / stripes;
    packed.valuePanels = (job.headDim + stripes - 1) / stripes;
    const std::size_t kSize = job.kvHeads * packed.keyPanels * job.headDim * stripes;
    const std::size_t vSize = job.kvHeads * packed.keys * packed.valuePanels * stripes;
    packed.k = std::make_unique_for_overwrite<float[]>(kSize);
    packed.v = std::make_unique_for_overwrite<float[]>(vSize);
    withStorage(job.dtype, [&](auto t) {
        using T = decltype(t);
        workers.run(job.kvHeads * packed.keyPanels, [&](std::size_t i) {
            packKeyPanel<T>(job, packed, i / packed.keyPanels, i % packed.keyPanels);
            packValueRows<T>(job, packed, i / packed.keyPanels, i % packed.keyPanels);
        });
    });
    return packed;
}

} // namespace

void attention(const Attention& job, Workers& workers)
{
    if (job.queries == 0)
        return;
    const PackedKeys packed = packKeys(job, workers);
    const std::size_t tiles = (job.queries + tileRows - 1) / tileRows;
    const auto attend = HWY_DYNAMIC_DISPATCH(attendPiece);
    workers.run(job.heads * tiles, [&](std::size_t i) {
        const std::size_t row = i % tiles * tileRows;
        attend({&job, &packed, i / tiles, row, std::min(tileRows, job.queries - row)});
    });
}

} // namespace moire::capture::device
#endif
