// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/records.h"

#include <cstdint>
#include <span>
#include <vector>

namespace at {
class Tensor;
}

namespace moire::capture {

/// The rows of one forward pass, in the order of the rows of every tensor that follows.
struct StepRows
{
    std::vector<trace::Row> rows; ///< rollUp and score still empty
};

/// Takes the tensors of a forward pass as they are made. The engine knows nothing of files and
/// sockets, the sink nothing of models. Tensors are views on their device, rows × width, valid
/// during the call only (a sink that works later on a side stream keeps its own copy); never host
/// memory by assumption.
class TapSink
{
public:
    virtual ~TapSink() = default;
    /// False when nobody wants this tap: the engine then need not make a tensor only for it.
    virtual bool wants(trace::TapIndex tap) const = 0;
    virtual Result<void> begin(StepRows rows) = 0;
    virtual Result<void> tensor(trace::TapIndex tap, const at::Tensor& values) = 0;
    /// Router of MoE layer `router`: logits rows × E, ids rows × k (int64), weights rows × k.
    virtual Result<void> routing(std::size_t router, const at::Tensor& logits,
                                 const at::Tensor& ids, const at::Tensor& weights) = 0;
    /// Final logits rows × V, and the token that follows each row (−1: none yet).
    virtual Result<void> logits(const at::Tensor& values,
                                std::span<const std::int32_t> nextTokens) = 0;
    virtual Result<void> end() = 0;
};

} // namespace moire::capture
