// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/operations.h"
#include "capture/engine/parallel_plan.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace moire::capture {

/// Where the partial products of a row-parallel layer come from. Simulated ranks make all of them
/// here; real ones make their own and gather the others'. What happens to them then is the same.
class PartialSource
{
public:
    virtual ~PartialSource() = default;
    /// In rank order, rows × out each, in the wire's dtype. `x`: what the layer gets in this
    /// process, rows × in.
    virtual std::vector<at::Tensor> partials(const at::Tensor& x) const = 0;
};

/// Every rank's product by the arithmetic of `operations`, of one equal part of the inputs each,
/// rounded to the layer's dtype; for a tree by the kernel of the trees. `weight`: out × in.
std::unique_ptr<PartialSource> simulatedRanks(Operations& operations, const ParallelPlan& plan,
                                              const at::Tensor& weight, numeric::DType layerType);

/// The layer whose product is the sum of partial products. `bias` (out, or undefined) is added once
/// behind the sum, with a rounding of its own. Outlived by `operations`.
std::unique_ptr<LinearLayer> makeRowParallel(Operations& operations, const ParallelPlan& plan,
                                             std::unique_ptr<PartialSource> source,
                                             at::Tensor bias);

} // namespace moire::capture
