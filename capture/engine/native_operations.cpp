// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/operations.h"
#include "capture/engine/threads.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace moire::capture {

namespace {

at::Tensor widened(const at::Tensor& x)
{
    return x.to(at::kFloat);
}

/// The dtype whose GEMM multiplies operands of this one; they are widened, and the product rounds
/// once. Of 16-bit matrices on CPUs without AVX-512 LibTorch 1 makes plain loops, some thirty times
/// slower than fp32, and so does LibTorch 2 of fp16 (measured).
/// - fp16: the fp32 GEMM, whose sums round as LibTorch 2's own do.
/// - bf16 in LibTorch 1: the fp64 GEMM. The fp32 one would do and is faster, but rounds ties
///   otherwise than the exact sum about twice as often as transformers' products do (measured),
///   and each such tie spreads through a model.
at::ScalarType productType(const at::Tensor& x)
{
    if (x.is_cpu() && x.scalar_type() == at::kHalf)
        return at::kFloat;
    if (TORCH_VERSION_MAJOR < 2 && x.is_cpu() && x.scalar_type() == at::kBFloat16)
        return at::kDouble;
    return x.scalar_type();
}

/// Elements of a block of a weight that is widened at a time: on a CPU 1 MiB of fp64, which stays
/// in the cache between the widening and the product; elsewhere 256 MiB of fp32, to keep the device
/// busy and the model in 16 bits.
constexpr std::int64_t widenedBlock = std::int64_t{1} << 17U;
constexpr std::int64_t widenedBlockOfDevice = std::int64_t{1} << 26U;

class NativeLinear : public LinearLayer
{
public:
    NativeLinear(at::Tensor weight, at::Tensor bias)
        : m_weight(std::move(weight))
        , m_bias(std::move(bias))
    {}

    at::Tensor apply(const at::Tensor& x) const override
    {
        const at::ScalarType type = productType(x);
        if (type != m_weight.scalar_type())
            return applyWidened(x, type);
        const ProductThreads threads(x.size(0) * m_weight.numel());
        if (x.is_cpu() && x.size(0) == 1)
            return oneRow(m_weight, x[0]).unsqueeze(0);
        return m_bias.defined() ? at::linear(x, m_weight, m_bias) : at::linear(x, m_weight);
    }

private:
    /// A row alone is a matrix-vector product: the library's GEMM takes five times as long for it.
    at::Tensor oneRow(const at::Tensor& weight, const at::Tensor& x) const
    {
        return m_bias.defined() ? at::addmv(m_bias, weight, x) : at::mv(weight, x);
    }

    at::Tensor applyWidened(const at::Tensor& x, at::ScalarType type) const
    {
        const at::Tensor wide = x.to(type);
        const std::int64_t outputs = m_weight.size(0);
        const std::int64_t block = x.is_cpu() ? widenedBlock : widenedBlockOfDevice;
        const std::int64_t step =
            std::max<std::int64_t>(16, block / std::max<std::int64_t>(1, m_weight.size(1)));
        const ProductThreads threads(x.size(0) * m_weight.size(1) * std::min(step, outputs));
        std::vector<at::Tensor> parts;
        for (std::int64_t begin = 0; begin < outputs; begin += step) {
            const at::Tensor part =
                m_weight.narrow(0, begin, std::min(step, outputs - begin)).to(type);
            parts.push_back(x.size(0) == 1 ? at::mv(part, wide[0]).unsqueeze(0)
                                           : at::linear(wide, part));
        }
        at::Tensor y = parts.size() == 1 ? parts.front() : at::cat(parts, 1);
        if (m_bias.defined())
            y.add_(m_bias.to(type));
        return y.to(x.scalar_type());
    }

    at::Tensor m_weight;
    at::Tensor m_bias;
};

/// Batched matrix product with fp32 accumulation and one rounding.
at::Tensor batchedProduct(const at::Tensor& a, const at::Tensor& b)
{
    const at::ScalarType type = productType(a);
    const ProductThreads threads(a.size(1) * a.size(2) * b.size(2));
    return at::bmm(a.to(type), b.to(type)).to(a.scalar_type());
}

at::Tensor rootMeanSquareNormalised(const NormLayer& norm, const at::Tensor& x)
{
    const at::Tensor wide = widened(x);
    const at::Tensor variance = (wide * wide).mean(-1, true);
    at::Tensor scaled = wide * at::rsqrt(variance + norm.eps);
    if (norm.kind == NormKind::RmsRoundTwice)
        return scaled.to(x.scalar_type()) * norm.weight;
    return (widened(norm.weight) * scaled).to(x.scalar_type());
}

at::Tensor layerNormalised(const NormLayer& norm, const at::Tensor& x)
{
    const auto wideOrNone = [](const at::Tensor& t) { return t.defined() ? widened(t) : t; };
    return at::layer_norm(widened(x), {x.size(-1)}, wideOrNone(norm.weight), wideOrNone(norm.bias),
                          norm.eps)
        .to(x.scalar_type());
}

/// 0 where query row r sees key j, the lowest finite number where not: fp32, queries × keys.
class AttentionMask
{
public:
    /// The layers of a forward ask for the same mask one after the other.
    const at::Tensor& of(const AttentionJob& job)
    {
        const Shape shape{job.q.size(0), job.k.size(1), job.firstPosition,
                          job.hidden,    job.window,    job.q.scalar_type()};
        if (!(m_shape == shape && m_mask.device() == job.q.device())) {
            m_mask = made(shape, job.q.options());
            m_shape = shape;
        }
        return m_mask;
    }

private:
    struct Shape
    {
        std::int64_t queries = 0;
        std::int64_t keys = 0;
        std::int64_t firstPosition = 0;
        std::int64_t paddedKeys = 0;
        std::int64_t window = 0;
        at::ScalarType dtype = at::kFloat;
        bool operator==(const Shape&) const = default;
    };

    static at::Tensor made(const Shape& shape, const at::TensorOptions& like)
    {
        const auto options = like.dtype(at::kLong);
        const at::Tensor position =
            at::arange(shape.firstPosition, shape.firstPosition + shape.queries, options)
                .unsqueeze(1);
        const at::Tensor key = at::arange(shape.keys, options).unsqueeze(0);
        at::Tensor hidden = key > position;
        if (shape.window > 0)
            hidden = hidden.logical_or(key <= position - shape.window);
        if (shape.paddedKeys > 0) // padding sees padding, so that no row of a softmax is empty
            hidden = hidden.logical_or(
                (key < shape.paddedKeys).logical_and(position >= shape.paddedKeys));
        const double lowest = shape.dtype == at::kHalf       ? -65504.0
                              : shape.dtype == at::kBFloat16 ? -0x1.FEp127
                                                             : std::numeric_limits<float>::lowest();
        return at::zeros({shape.queries, shape.keys}, like.dtype(at::kFloat))
            .masked_fill_(hidden, lowest);
    }

    Shape m_shape;
    at::Tensor m_mask;
};

/// Multiplying by it rounds nothing (but subnormals).
bool isPowerOfTwo(double scale)
{
    int exponent = 0;
    return std::frexp(scale, &exponent) == 0.5;
}

/// x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, each operation rounding, both products of the cube too
/// (GPT-2).
at::Tensor geluNew(const at::Tensor& x)
{
    const auto round = [&](const at::Tensor& wide) { return wide.to(x.scalar_type()); };
    const auto times = [&](const at::Tensor& t, double factor) {
        return round(widened(t) * factor);
    };
    const at::Tensor cube = round(widened(round(widened(x) * widened(x))) * widened(x));
    const at::Tensor inner = times(x + times(cube, 0.044715), std::sqrt(2.0 / std::numbers::pi));
    const at::Tensor outer = round(widened(round(at::tanh(widened(inner)))) + 1.0);
    return times(x, 0.5) * outer;
}

class NativeOperations : public Operations
{
public:
    explicit NativeOperations(AttentionKind attention)
        : m_attention(attention)
    {}

    void useThreads(unsigned threads) override
    {
        setLibraryThreads(threads);
        m_threads = threads == 0 ? defaultThreads() : threads;
        if (m_workers && m_workers->threads() != m_threads)
            m_workers.reset();
    }

    /// Made when somebody asks: the library's kernels have threads of their own.
    device::Workers& workers() override
    {
        if (!m_workers)
            m_workers = std::make_unique<device::Workers>(m_threads);
        return *m_workers;
    }

    std::unique_ptr<LinearLayer> makeLinear(at::Tensor weight, at::Tensor bias) override
    {
        return std::make_unique<NativeLinear>(std::move(weight), std::move(bias));
    }

    at::Tensor normalise(const NormLayer& norm, const at::Tensor& x) override
    {
        const bool rms =
            norm.kind == NormKind::RmsRoundTwice || norm.kind == NormKind::RmsRoundOnce;
        return rms ? rootMeanSquareNormalised(norm, x) : layerNormalised(norm, x);
    }

    RotaryTables rotaryTables(const std::vector<std::int64_t>& positions,
                              const at::Tensor& inverseFrequencies, double factor, RopeKind kind,
                              at::ScalarType dtype) override
    {
        const at::Tensor position = at::tensor(at::ArrayRef<std::int64_t>(positions), at::kLong)
                                        .to(inverseFrequencies.options());
        const at::Tensor half = position.unsqueeze(1) * inverseFrequencies.unsqueeze(0);
        const at::Tensor angle = at::cat({half, half}, 1);
        const at::ScalarType type = kind == RopeKind::Fp32Tables ? at::kFloat : dtype;
        return {(at::cos(angle) * factor).to(type), (at::sin(angle) * factor).to(type)};
    }

    at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables, RopeKind kind) override
    {
        const std::int64_t half = x.size(2) / 2;
        const at::Tensor input = kind == RopeKind::Fp32Tables ? widened(x) : x;
        const at::Tensor turned =
            at::cat({input.narrow(2, half, half).neg(), input.narrow(2, 0, half)}, 2);
        at::Tensor result = input * tables.cosines.unsqueeze(1);
        result.add_(turned * tables.sines.unsqueeze(1));
        return result.to(x.scalar_type());
    }

    at::Tensor attention(const AttentionJob& job) override;
    at::Tensor activate(Activation activation, const at::Tensor& x) override;

    at::Tensor add(const at::Tensor& a, const at::Tensor& b) override { return a + b; }
    at::Tensor multiply(const at::Tensor& a, const at::Tensor& b) override { return a * b; }

    at::Tensor gateRows(const at::Tensor& x, const at::Tensor& gate) override
    {
        return x * at::sigmoid(widened(gate)).to(gate.scalar_type());
    }

    Routing route(const MoePlan& moe, const at::Tensor& logits) override
    {
        const at::Tensor scores = at::softmax(widened(logits), -1);
        auto [weights, ids] = at::topk(scores, moe.chosen, -1);
        if (moe.normaliseWeights)
            weights = weights / weights.sum(-1, true);
        return {ids, moe.fp32Weights ? weights : weights.to(logits.scalar_type())};
    }

    at::Tensor combine(const MoePlan& moe, const at::Tensor& slots, const Routing& routing) override
    {
        const at::Tensor weight = routing.weights.unsqueeze(-1);
        const at::Tensor product = slots * weight;
        if (moe.order == ExpertOrder::SlotOrder)
            return widened(product).sum(1).to(slots.scalar_type());
        const at::Tensor weighted = product.to(slots.scalar_type());
        const at::Tensor order = std::get<1>(at::sort(routing.ids, 1));
        at::Tensor sum = at::zeros({slots.size(0), slots.size(2)}, slots.options());
        for (std::int64_t j = 0; j < slots.size(1); ++j) {
            const at::Tensor place =
                order.select(1, j).view({-1, 1, 1}).expand({slots.size(0), 1, slots.size(2)});
            sum = sum + weighted.gather(1, place).squeeze(1);
        }
        return sum;
    }

private:
    at::Tensor maskedScores(const AttentionJob& job, const at::Tensor& q);
    at::Tensor fusedAttention(const AttentionJob& job);

    AttentionKind m_attention;
    AttentionMask m_mask;
    unsigned m_threads = 0;
    std::unique_ptr<device::Workers> m_workers;
};

/// fp32 scores of the heads' queries (kvHeads × rows of its heads × headDim), rounded to the dtype
/// after the product and after the scale: kvHeads × rows of its heads × keys.
at::Tensor NativeOperations::maskedScores(const AttentionJob& job, const at::Tensor& q)
{
    const auto dtype = job.q.scalar_type();
    const std::int64_t rows = job.q.size(0);
    const std::int64_t keys = job.k.size(1);
    const bool masked = rows > 1 || job.window > 0 || job.hidden > 0;
    if (masked && dtype == at::kFloat && isPowerOfTwo(job.scale)) { // the same bits in one pass
        const ProductThreads threads(q.size(1) * q.size(2) * keys);
        return at::baddbmm(m_mask.of(job).repeat({q.size(1) / rows, 1}).unsqueeze(0), q,
                           job.k.transpose(1, 2), 1.0, job.scale);
    }
    at::Tensor scores = widened(batchedProduct(q, job.k.transpose(1, 2)));
    scores = widened(scores.mul_(job.scale).to(dtype));
    if (masked)
        scores.view({-1, rows, keys}).add_(m_mask.of(job));
    return scores;
}

/// The library's kernel, called as transformers calls it: key and value heads repeated, a mask only
/// where causality alone does not say what is seen.
at::Tensor NativeOperations::fusedAttention([[maybe_unused]] const AttentionJob& job)
{
#if TORCH_VERSION_MAJOR >= 2
    const std::int64_t rows = job.q.size(0);
    const std::int64_t heads = job.q.size(1);
    const std::int64_t sharing = heads / job.k.size(0);
    const auto repeated = [&](const at::Tensor& t) {
        return t.repeat_interleave(sharing, 0).unsqueeze(0);
    };
    const bool everything = job.window == 0 && job.hidden == 0;
    const bool causal = everything && rows > 1 && job.firstPosition == 0 && job.k.size(1) == rows;
    c10::optional<at::Tensor> mask;
    if (!causal && !(everything && rows == 1))
        mask = m_mask.of(job) == 0;
    return at::scaled_dot_product_attention(job.q.transpose(0, 1).unsqueeze(0), repeated(job.k),
                                            repeated(job.v), mask, 0.0, causal, job.scale)
        .squeeze(0)
        .transpose(0, 1)
        .reshape({rows, heads * job.q.size(2)});
#else
    throw std::logic_error("scaled_dot_product_attention needs LibTorch 2"); // planRun refuses it
#endif
}

at::Tensor NativeOperations::attention(const AttentionJob& job)
{
    if (m_attention == AttentionKind::Sdpa)
        return fusedAttention(job);
    const std::int64_t rows = job.q.size(0);
    const std::int64_t heads = job.q.size(1);
    const std::int64_t headDim = job.q.size(2);
    const std::int64_t kvHeads = job.k.size(0);
    // The heads that share a key/value head are rows of one product.
    const at::Tensor q = job.q.transpose(0, 1).reshape({kvHeads, heads / kvHeads * rows, headDim});
    const at::Tensor weights = at::softmax(maskedScores(job, q), -1).to(job.q.scalar_type());
    return batchedProduct(weights, job.v)
        .view({heads, rows, headDim})
        .transpose(0, 1)
        .reshape({rows, heads * headDim});
}

at::Tensor NativeOperations::activate(Activation activation, const at::Tensor& x)
{
    // In fp32 with one rounding: LibTorch 1's 16-bit silu rounds inside (measured), and it has no
    // relu of fp16.
    switch (activation) {
    case Activation::Silu:
        return at::silu(widened(x)).to(x.scalar_type());
    case Activation::Gelu:
        return at::gelu(widened(x)).to(x.scalar_type());
    case Activation::GeluTanh:
        return at::gelu(widened(x), "tanh").to(x.scalar_type());
    case Activation::GeluNew:
        return geluNew(x);
    case Activation::Relu:
        return at::relu(widened(x)).to(x.scalar_type());
    case Activation::ReluSquared: {
        const at::Tensor positive = at::relu(widened(x)).to(x.scalar_type());
        return positive * positive;
    }
    }
    return x;
}

} // namespace

std::unique_ptr<Operations> makeNativeOperations(AttentionKind attention)
{
    return std::make_unique<NativeOperations>(attention);
}

at::ScalarType scalarTypeOf(numeric::DType dtype)
{
    switch (dtype) {
    case numeric::DType::BF16:
        return at::kBFloat16;
    case numeric::DType::FP16:
        return at::kHalf;
    case numeric::DType::FP64:
        return at::kDouble;
    default:
        return at::kFloat;
    }
}

numeric::DType dtypeOf(at::ScalarType type)
{
    switch (type) {
    case at::kBFloat16:
        return numeric::DType::BF16;
    case at::kHalf:
        return numeric::DType::FP16;
    case at::kDouble:
        return numeric::DType::FP64;
    default:
        return numeric::DType::FP32;
    }
}

} // namespace moire::capture
