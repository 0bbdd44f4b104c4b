// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/kv_cache.h"
#include "capture/engine/model.h"
#include "capture/engine/tap_plan.h"
#include "capture/engine/tap_sink.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace moire::capture {

/// The next tokens of one sample and the cache of those before.
struct Piece
{
    std::span<const std::int32_t> ids;
    KvCache* cache = nullptr;
    std::int64_t padBefore = 0; ///< rows of padding, which are computed and given to nobody
    std::int64_t padBehind = 0;

    std::int64_t rows() const
    {
        return padBefore + static_cast<std::int64_t>(ids.size()) + padBehind;
    }
};

/// One pass through the decoder for a batch of samples of any lengths. The rows of all pieces, one
/// piece after the other, are the rows of every linear layer, norm and activation; only attention
/// works sample by sample. There is no padding but what the pieces ask for.
class Forward
{
public:
    /// `sink` gets the taps of `taps`; null: none. All must outlive the object.
    Forward(const Model& model, const TapPlan& taps, TapSink* sink);

    /// Final logits, rows × vocabulary, after the sink had all taps but no end(), both without rows
    /// of padding. Throws Failure when the sink fails, and what LibTorch throws.
    at::Tensor run(std::span<const Piece> pieces);

private:
    void tap(Site site, std::int32_t layer, const at::Tensor& values);
    at::Tensor withoutPadding(const at::Tensor& values) const;
    void findRows();
    bool wants(Site site, std::int32_t layer) const;
    /// A row-parallel layer, whose ranks' partial products may be tapped.
    at::Tensor summed(const LinearLayer& linear, const at::Tensor& x, Site site,
                      std::int32_t layer);
    void tapPartials(Site site, std::int32_t layer, const std::vector<at::Tensor>& partials);
    struct Projections
    {
        at::Tensor q, k, v; ///< rows × width
    };
    Projections projections(const at::Tensor& x, std::int32_t layer);
    at::Tensor projectedHeads(const at::Tensor& projection, const NormLayer& norm, Site site,
                              std::int32_t layer, std::int64_t heads);
    at::Tensor clipped(const at::Tensor& x) const;
    at::Tensor attention(const at::Tensor& x, std::int32_t layer);
    at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      std::int32_t layer);
    double attentionScale(std::int32_t layer) const;
    at::Tensor mlp(const at::Tensor& x, const MlpLayers& weights, const MlpSites& sites,
                   std::int32_t layer);
    at::Tensor block(const at::Tensor& x, std::int32_t layer);
    at::Tensor sparseMlp(const at::Tensor& x, std::int32_t layer);
    at::Tensor expertSlots(const at::Tensor& x, const at::Tensor& ids, std::int32_t layer);
    at::Tensor decoderLayer(const at::Tensor& x, std::int32_t layer);
    at::Tensor embed(const std::vector<std::int64_t>& ids,
                     const std::vector<std::int64_t>& positions);
    void prepareRotation(const std::vector<std::int64_t>& positions);
    /// The tables as an attention of this dtype takes them.
    const RotaryTables& rotaryFor(at::ScalarType dtype);
    at::Tensor normalised(const NormLayer& norm, Site site, std::int32_t layer,
                          const at::Tensor& x);
    const DecoderLayer& weights(std::int32_t layer) const
    {
        return m_model.layers()[static_cast<std::size_t>(layer)];
    }

    const Model& m_model;
    const ModelPlan& m_plan;
    Operations& m_operations;
    const TapPlan& m_taps;
    TapSink* m_sink;
    std::span<const Piece> m_pieces; ///< of the pass that runs
    at::Tensor m_realRows;           ///< their numbers; undefined where no row is padding
    RotaryTables m_rotary;
    std::map<at::ScalarType, RotaryTables> m_rotaryOf; ///< converted
    std::size_t m_router = 0;                          ///< of the next MoE layer
};

} // namespace moire::capture
