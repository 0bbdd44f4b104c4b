// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered.h"
#include "capture/engine/operations.h"
#include "capture/engine/threads.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace moire::capture {

namespace {

std::size_t extent(const at::Tensor& t, std::int64_t dimension)
{
    return static_cast<std::size_t>(t.size(dimension));
}

std::size_t step(const at::Tensor& t, std::int64_t dimension)
{
    return static_cast<std::size_t>(t.stride(dimension));
}

std::size_t elements(const at::Tensor& t)
{
    return static_cast<std::size_t>(t.numel());
}

const void* dataOrNull(const at::Tensor& t)
{
    return t.defined() ? t.data_ptr() : nullptr;
}

/// Rows whose elements lie next to each other, whatever the distance between rows.
at::Tensor denseRows(const at::Tensor& t)
{
    return t.stride(-1) == 1 ? t : t.contiguous();
}

/// The threads of all kernels; shared with the layers, since their number can change between runs.
using Team = std::unique_ptr<device::Workers>;

class OrderedLinear : public LinearLayer
{
public:
    OrderedLinear(const at::Tensor& weight, const at::Tensor& bias,
                  std::shared_ptr<const Team> team, const KPlan& kPlan)
        : m_packed(weight.data_ptr(), dtypeOf(weight.scalar_type()), extent(weight, 0),
                   extent(weight, 1), extent(weight, 1), dataOrNull(bias), **team)
        , m_team(std::move(team))
        , m_plain(kPlan.isPlain())
        , m_sum(kPlan.sumOf(m_packed.inputs()))
    {}

    at::Tensor apply(const at::Tensor& x) const override
    {
        const at::Tensor in = denseRows(x);
        at::Tensor out =
            at::empty({x.size(0), static_cast<std::int64_t>(m_packed.outputs())}, x.options());
        const auto dtype = dtypeOf(x.scalar_type());
        if (m_plain)
            device::linear(in.data_ptr(), dtype, step(in, 0), extent(in, 0), m_packed,
                           out.data_ptr(), dtype, m_packed.outputs(), **m_team);
        else
            device::plannedLinear(in.data_ptr(), dtype, step(in, 0), extent(in, 0), m_packed,
                                  {0, m_packed.inputs()}, m_sum, out.data_ptr(), dtype,
                                  m_packed.outputs(), **m_team);
        return out;
    }

private:
    device::PackedLinear m_packed;
    std::shared_ptr<const Team> m_team;
    bool m_plain;
    device::SumPlan m_sum;
};

device::Norm deviceNorm(NormKind kind)
{
    switch (kind) {
    case NormKind::RmsRoundTwice:
        return device::Norm::RmsRoundTwice;
    case NormKind::RmsRoundOnce:
        return device::Norm::RmsRoundOnce;
    case NormKind::LayerNorm:
    case NormKind::LayerNormPlain:
        return device::Norm::Layer;
    }
    return device::Norm::Layer;
}

device::Curve deviceCurve(Activation activation)
{
    switch (activation) {
    case Activation::Silu:
        return device::Curve::Silu;
    case Activation::Gelu:
        return device::Curve::Gelu;
    case Activation::GeluTanh:
        return device::Curve::GeluTanh;
    case Activation::GeluNew:
        return device::Curve::GeluNew;
    case Activation::Relu:
        return device::Curve::Relu;
    case Activation::ReluSquared:
        return device::Curve::ReluSquared;
    }
    return device::Curve::Silu;
}

using ElementsKernel = void (*)(const void*, const void*, void*, numeric::DType, std::size_t,
                                device::Workers&);

class OrderedOperations : public Operations
{
public:
    OrderedOperations(unsigned threads, const KPlan& kPlan)
        : m_team(std::make_shared<Team>(std::make_unique<device::Workers>(threads)))
        , m_kPlan(kPlan)
    {}

    void useThreads(unsigned threads) override
    {
        setLibraryThreads(threads);
        const unsigned wanted = threads == 0 ? defaultThreads() : threads;
        if ((*m_team)->threads() != wanted)
            *m_team = std::make_unique<device::Workers>(wanted);
    }

    device::Workers& workers() override { return **m_team; }

    std::unique_ptr<LinearLayer> makeLinear(at::Tensor weight, at::Tensor bias) override
    {
        return std::make_unique<OrderedLinear>(weight.contiguous(), bias, m_team, m_kPlan);
    }

    at::Tensor normalise(const NormLayer& norm, const at::Tensor& x) override
    {
        const at::Tensor in = denseRows(x);
        at::Tensor out = at::empty(x.sizes(), x.options());
        device::normalise(deviceNorm(norm.kind), in.data_ptr(), step(in, 0),
                          dataOrNull(norm.weight), dataOrNull(norm.bias),
                          static_cast<float>(norm.eps), out.data_ptr(), extent(out, 1),
                          dtypeOf(x.scalar_type()), extent(x, 0), extent(x, 1), **m_team);
        return out;
    }

    RotaryTables rotaryTables(const std::vector<std::int64_t>& positions,
                              const at::Tensor& inverseFrequencies, double factor, RopeKind kind,
                              at::ScalarType dtype) override
    {
        const at::ScalarType type = kind == RopeKind::Fp32Tables ? at::kFloat : dtype;
        const auto rows = static_cast<std::int64_t>(positions.size());
        at::Tensor cosines = at::empty({rows, inverseFrequencies.size(0)}, at::kFloat);
        at::Tensor sines = at::empty_like(cosines);
        device::rotaryTable(positions.data(), positions.size(),
                            inverseFrequencies.data_ptr<float>(), elements(inverseFrequencies),
                            static_cast<float>(factor), dtypeOf(type), cosines.data_ptr<float>(),
                            sines.data_ptr<float>());
        const auto bothHalves = [&](const at::Tensor& half) {
            return at::cat({half, half}, 1).to(type);
        };
        return {bothHalves(cosines), bothHalves(sines)};
    }

    at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables, RopeKind kind) override
    {
        const std::int64_t half = x.size(2) / 2;
        const auto oneHalf = [&](const at::Tensor& table) {
            return table.narrow(1, 0, half).to(at::kFloat).contiguous();
        };
        const at::Tensor cosines = oneHalf(tables.cosines);
        const at::Tensor sines = oneHalf(tables.sines);
        const at::Tensor in = x.contiguous();
        at::Tensor out = at::empty_like(in);
        device::rotate(in.data_ptr(), step(in, 0), out.data_ptr(), step(out, 0),
                       dtypeOf(x.scalar_type()), extent(x, 0), extent(x, 1),
                       static_cast<std::size_t>(half), cosines.data_ptr<float>(),
                       sines.data_ptr<float>(),
                       kind == RopeKind::Fp32Tables ? device::RotaryRounding::Once
                                                    : device::RotaryRounding::Each,
                       **m_team);
        return out;
    }

    at::Tensor attention(const AttentionJob& job) override;

    at::Tensor activate(Activation activation, const at::Tensor& x) override
    {
        const at::Tensor in = x.contiguous();
        at::Tensor out = at::empty_like(in);
        device::applyCurve(deviceCurve(activation), in.data_ptr(), out.data_ptr(),
                           dtypeOf(x.scalar_type()), elements(x), **m_team);
        return out;
    }

    at::Tensor add(const at::Tensor& a, const at::Tensor& b) override
    {
        return ofElements(device::addElements, a, b);
    }
    at::Tensor multiply(const at::Tensor& a, const at::Tensor& b) override
    {
        return ofElements(device::multiplyElements, a, b);
    }

    at::Tensor gateRows(const at::Tensor& x, const at::Tensor& gate) override
    {
        const at::Tensor in =
            x.to(at::promoteTypes(x.scalar_type(), gate.scalar_type())).contiguous();
        at::Tensor factors = at::empty_like(gate);
        device::applyCurve(device::Curve::Sigmoid, gate.contiguous().data_ptr(), factors.data_ptr(),
                           dtypeOf(gate.scalar_type()), elements(gate), **m_team);
        factors = factors.to(at::kFloat);
        at::Tensor out = at::empty_like(in);
        device::scaleRows(in.data_ptr(), factors.data_ptr<float>(), out.data_ptr(),
                          dtypeOf(in.scalar_type()), extent(in, 0), extent(in, 1), **m_team);
        return out;
    }

    Routing route(const MoePlan& moe, const at::Tensor& logits) override
    {
        const at::Tensor in = logits.contiguous();
        const auto chosen = static_cast<std::int64_t>(moe.chosen);
        const at::ScalarType weightType = moe.fp32Weights ? at::kFloat : logits.scalar_type();
        Routing routing{at::empty({logits.size(0), chosen}, at::kLong),
                        at::empty({logits.size(0), chosen}, weightType)};
        device::route(in.data_ptr(), dtypeOf(logits.scalar_type()), extent(in, 0), extent(in, 1),
                      moe.chosen, moe.normaliseWeights, routing.ids.data_ptr<std::int64_t>(),
                      routing.weights.data_ptr(), dtypeOf(weightType), **m_team);
        return routing;
    }

    at::Tensor combine(const MoePlan& moe, const at::Tensor& slots,
                       const Routing& routing) override;

private:
    at::Tensor ofElements(ElementsKernel kernel, const at::Tensor& a, const at::Tensor& b)
    {
        assert(a.sizes() == b.sizes());
        const at::ScalarType type = at::promoteTypes(a.scalar_type(), b.scalar_type());
        const at::Tensor first = a.to(type).contiguous();
        const at::Tensor second = b.to(type).contiguous();
        at::Tensor out = at::empty_like(first);
        kernel(first.data_ptr(), second.data_ptr(), out.data_ptr(), dtypeOf(type), elements(a),
               **m_team);
        return out;
    }

    std::shared_ptr<Team> m_team;
    KPlan m_kPlan;
};

at::Tensor OrderedOperations::attention(const AttentionJob& job)
{
    const at::Tensor q = denseRows(job.q);
    const std::int64_t rows = q.size(0);
    // Keys count from the first that is no padding, as without it; rows of padding see that one.
    const std::int64_t keys = job.k.size(1) - job.hidden;
    const at::Tensor k = job.k.narrow(1, job.hidden, keys);
    const at::Tensor v = job.v.narrow(1, job.hidden, keys);
    std::vector<std::uint32_t> begins(extent(q, 0));
    std::vector<std::uint32_t> ends(extent(q, 0));
    for (std::size_t r = 0; r < ends.size(); ++r) {
        const std::int64_t seen = job.firstPosition - job.hidden + static_cast<std::int64_t>(r) + 1;
        ends[r] = static_cast<std::uint32_t>(std::max<std::int64_t>(seen, 1));
        begins[r] = job.window > 0 && ends[r] > job.window ? ends[r] - job.window : 0;
    }
    at::Tensor out = at::empty({rows, q.size(1), q.size(2)}, q.options());
    device::Attention task;
    task.dtype = dtypeOf(q.scalar_type());
    task.queries = extent(q, 0);
    task.heads = extent(q, 1);
    task.kvHeads = extent(k, 0);
    task.headDim = extent(q, 2);
    task.q = q.data_ptr();
    task.qRowStride = step(q, 0);
    task.qHeadStride = step(q, 1);
    task.k = k.data_ptr();
    task.kRowStride = step(k, 1);
    task.kHeadStride = step(k, 0);
    task.v = v.data_ptr();
    task.vRowStride = step(v, 1);
    task.vHeadStride = step(v, 0);
    task.out = out.data_ptr();
    task.outRowStride = step(out, 0);
    task.outHeadStride = step(out, 1);
    task.keyBegin = begins.data();
    task.keyEnd = ends.data();
    task.scale = job.scale;
    device::attention(task, **m_team);
    return out.view({rows, q.size(1) * q.size(2)});
}

/// For every row the slots in the order to add them.
std::vector<std::int32_t> addingOrder(const at::Tensor& ids, ExpertOrder order)
{
    const std::size_t chosen = extent(ids, 1);
    const auto* id = ids.data_ptr<std::int64_t>();
    std::vector<std::int32_t> slots(elements(ids));
    for (std::size_t r = 0; r < extent(ids, 0); ++r) {
        const auto begin = slots.begin() + static_cast<std::ptrdiff_t>(r * chosen);
        const auto end = begin + static_cast<std::ptrdiff_t>(chosen);
        std::iota(begin, end, 0);
        if (order == ExpertOrder::AscendingId)
            std::sort(begin, end, [row = id + r * chosen](std::int32_t a, std::int32_t b) {
                return row[a] < row[b];
            });
    }
    return slots;
}

at::Tensor OrderedOperations::combine(const MoePlan& moe, const at::Tensor& slots,
                                      const Routing& routing)
{
    const std::size_t rows = extent(slots, 0);
    const std::size_t chosen = extent(slots, 1);
    const std::size_t width = extent(slots, 2);
    const bool ascending = moe.order == ExpertOrder::AscendingId;
    const at::Tensor factors = routing.weights.to(at::kFloat).contiguous();
    // Weights of another dtype make fp32 products; only the sum of all rounds.
    const bool mixed = routing.weights.scalar_type() != slots.scalar_type();
    const at::Tensor terms = mixed && !ascending ? slots.to(at::kFloat) : slots;
    const auto dtype = dtypeOf(terms.scalar_type());
    at::Tensor weighted = at::empty_like(terms);
    device::scaleRows(terms.data_ptr(), factors.data_ptr<float>(), weighted.data_ptr(), dtype,
                      rows * chosen, width, **m_team);
    const std::vector<std::int32_t> order = addingOrder(routing.ids, moe.order);
    at::Tensor sum = at::empty({slots.size(0), slots.size(2)}, terms.options());
    device::sumSlots(weighted.data_ptr(), order.data(), sum.data_ptr(), dtype, rows, chosen, width,
                     ascending, **m_team);
    return sum.to(slots.scalar_type());
}

} // namespace

std::unique_ptr<Operations> makeOrderedOperations(unsigned threads, const KPlan& kPlan)
{
    return std::make_unique<OrderedOperations>(threads, kPlan);
}

} // namespace moire::capture
