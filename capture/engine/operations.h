// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/workers.h"
#include "capture/engine/k_plan.h"
#include "capture/model/model_plan.h"
#include "core/numeric/dtype.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace moire::capture {

/// A linear layer with its weights, in the form that its arithmetic wants.
class LinearLayer
{
public:
    virtual ~LinearLayer() = default;
    /// x·Wᵀ + bias: rows × in → rows × out, in x's dtype, fp32 accumulation, one rounding.
    virtual at::Tensor apply(const at::Tensor& x) const = 0;
    /// The same; a layer that is summed over ranks also gives their partial products, in rank
    /// order.
    virtual at::Tensor applyWithPartials(const at::Tensor& x,
                                         std::vector<at::Tensor>& /*partials*/) const
    {
        return apply(x);
    }
};

struct NormLayer
{
    NormKind kind = NormKind::RmsRoundTwice;
    double eps = 0;
    at::Tensor weight;                 ///< undefined: none
    at::Tensor bias;                   ///< undefined: none
    at::ScalarType dtype = at::kFloat; ///< of weight and bias, and what it computes in
};

/// rows × headDim each, in the model's dtype (RoundEach) or fp32 (Fp32Tables); both halves of a row
/// are equal.
struct RotaryTables
{
    at::Tensor cosines;
    at::Tensor sines;
};

/// The queries of one sample against its cache.
struct AttentionJob
{
    at::Tensor q;                   ///< rows × heads × headDim
    at::Tensor k, v;                ///< kvHeads × positions × headDim, up to the last query's own
    std::int64_t firstPosition = 0; ///< of the first query row
    std::int64_t hidden = 0;        ///< so many keys in front are padding, which no row sees
    std::uint32_t window = 0;       ///< 0 = none
    double scale = 1;
};

struct Routing
{
    at::Tensor ids;     ///< rows × k, int64, slot order
    at::Tensor weights; ///< rows × k
};

/// What Forward is made of: every operation whose bits depend on how it is carried out. All
/// tensors lie on one device, rows first, and are contiguous unless said otherwise; results are
/// new tensors. "Rounds" means to the inputs' dtype (conventions of transformers 5.24).
class Operations
{
public:
    virtual ~Operations() = default;

    /// Threads of what follows; 0 = one for each processor.
    virtual void useThreads(unsigned threads) = 0;
    /// Those that the kernels of capture/device share here.
    virtual device::Workers& workers() = 0;

    /// `weight` out × in, `bias` out or undefined, in one dtype. Where that is narrower than x's,
    /// they are widened whenever the layer is used.
    virtual std::unique_ptr<LinearLayer> makeLinear(at::Tensor weight, at::Tensor bias) = 0;
    /// x: rows × width of the norm's weight, of its dtype.
    virtual at::Tensor normalise(const NormLayer& norm, const at::Tensor& x) = 0;
    /// Cosines and sines are multiplied by `factor` in fp32.
    virtual RotaryTables rotaryTables(const std::vector<std::int64_t>& positions,
                                      const at::Tensor& inverseFrequencies, double factor,
                                      RopeKind kind, at::ScalarType dtype) = 0;
    /// x: rows × heads × headDim.
    virtual at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables, RopeKind kind) = 0;
    /// rows × (heads · headDim). q·kᵀ, the scaling, the softmax (inside fp32) and ·v round each.
    virtual at::Tensor attention(const AttentionJob& job) = 0;
    virtual at::Tensor activate(Activation activation, const at::Tensor& x) = 0;
    /// In the dtype of both, fp32 where they differ.
    virtual at::Tensor add(const at::Tensor& a, const at::Tensor& b) = 0;
    virtual at::Tensor multiply(const at::Tensor& a, const at::Tensor& b) = 0;
    /// x: rows × width, gate: rows × 1. The sigmoid of the gate rounds to the gate's dtype; times
    /// its row it rounds as in multiply().
    virtual at::Tensor gateRows(const at::Tensor& x, const at::Tensor& gate) = 0;
    /// logits: rows × experts.
    virtual Routing route(const MoePlan& moe, const at::Tensor& logits) = 0;
    /// slots: rows × k × width, the experts' outputs in slot order. Each times its weight rounds
    /// (not where weights of another dtype meet a sum in slot order: that product is fp32); they
    /// are added in the plan's order with its roundings. → rows × width, of the slots' dtype.
    virtual at::Tensor combine(const MoePlan& moe, const at::Tensor& slots,
                               const Routing& routing) = 0;
};

enum class AttentionKind : std::uint8_t
{
    Eager, ///< scores, softmax and weighted values one after the other, rounding each
    Sdpa   ///< LibTorch's scaled_dot_product_attention, LibTorch 2 only; rounds as its kernel does
};

/// The library's own kernels, on any device.
std::unique_ptr<Operations> makeNativeOperations(AttentionKind attention);
/// capture/device's batch-invariant kernels, on the CPU; linear layers are summed as `kPlan` says.
std::unique_ptr<Operations> makeOrderedOperations(unsigned threads, const KPlan& kPlan);

/// LibTorch's name of a dtype that a policy can give (bf16, fp16, fp32), and back.
at::ScalarType scalarTypeOf(numeric::DType dtype);
numeric::DType dtypeOf(at::ScalarType type);

} // namespace moire::capture
