// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/row_parallel.h"

#include "capture/device/planned_linear.h"
#include "capture/engine/rank_reduction.h"

#include <ATen/ATen.h>

namespace moire::capture {

namespace {

/// Each rank's product is a layer of its own, made by the arithmetic of the run.
class SlicedRanks : public PartialSource
{
public:
    SlicedRanks(Operations& operations, std::uint32_t size, const at::Tensor& weight)
        : m_width(weight.size(1) / size)
    {
        for (std::int64_t rank = 0; rank < size; ++rank)
            m_layers.push_back(operations.makeLinear(
                weight.narrow(1, rank * m_width, m_width).contiguous(), at::Tensor()));
    }

    std::vector<at::Tensor> partials(const at::Tensor& x) const override
    {
        std::vector<at::Tensor> products;
        for (const auto& layer : m_layers) {
            const auto rank = static_cast<std::int64_t>(products.size());
            products.push_back(layer->apply(x.narrow(1, rank * m_width, m_width).contiguous()));
        }
        return products;
    }

private:
    std::int64_t m_width;
    std::vector<std::unique_ptr<LinearLayer>> m_layers;
};

/// Each rank sums its subtree of the one tree over the inputs.
class TreeRanks : public PartialSource
{
public:
    TreeRanks(Operations& operations, const ParallelPlan& plan, const at::Tensor& weight,
              numeric::DType layerType)
        : m_operations(operations)
        , m_size(plan.size)
        , m_wire(plan.wireType(layerType))
        , m_packed(weight.data_ptr(), dtypeOf(weight.scalar_type()),
                   static_cast<std::size_t>(weight.size(0)),
                   static_cast<std::size_t>(weight.size(1)),
                   static_cast<std::size_t>(weight.stride(0)), nullptr, operations.workers())
        , m_sum(treeSum(plan.contract(), static_cast<std::uint32_t>(weight.size(1)) / plan.size,
                        plan.leafOf(layerType), layerType))
    {}

    std::vector<at::Tensor> partials(const at::Tensor& x) const override
    {
        const at::Tensor in = x.stride(1) == 1 ? x : x.contiguous();
        const std::size_t width = m_packed.inputs() / m_size;
        const numeric::DType inType = dtypeOf(in.scalar_type());
        std::vector<at::Tensor> products;
        for (std::size_t rank = 0; rank < m_size; ++rank) {
            const at::Tensor product =
                at::empty({in.size(0), static_cast<std::int64_t>(m_packed.outputs())},
                          in.options().dtype(scalarTypeOf(m_wire)));
            const auto* first = static_cast<const std::byte*>(in.data_ptr())
                                + rank * width * numeric::sizeOf(inType);
            device::plannedLinear(first, inType, static_cast<std::size_t>(in.stride(0)),
                                  static_cast<std::size_t>(in.size(0)), m_packed,
                                  {rank * width, width}, m_sum, product.data_ptr(), m_wire,
                                  m_packed.outputs(), m_operations.workers());
            products.push_back(product);
        }
        return products;
    }

private:
    Operations& m_operations;
    std::size_t m_size;
    numeric::DType m_wire;
    device::PackedLinear m_packed;
    device::SumPlan m_sum;
};

class RowParallelLinear : public LinearLayer
{
public:
    RowParallelLinear(Operations& operations, const ParallelPlan& plan,
                      std::unique_ptr<PartialSource> source, at::Tensor bias)
        : m_operations(operations)
        , m_plan(plan)
        , m_source(std::move(source))
        , m_bias(std::move(bias))
    {}

    at::Tensor apply(const at::Tensor& x) const override
    {
        return summed(m_source->partials(x), x.scalar_type());
    }

    at::Tensor applyWithPartials(const at::Tensor& x,
                                 std::vector<at::Tensor>& partials) const override
    {
        partials = m_source->partials(x);
        return summed(partials, x.scalar_type());
    }

private:
    at::Tensor summed(const std::vector<at::Tensor>& partials, at::ScalarType outType) const
    {
        at::Tensor y = reducedPartials(m_plan, partials, outType);
        if (!m_bias.defined())
            return y;
        return m_operations.add(y, m_bias.to(outType).expand(y.sizes()).contiguous());
    }

    Operations& m_operations;
    ParallelPlan m_plan;
    std::unique_ptr<PartialSource> m_source;
    at::Tensor m_bias;
};

} // namespace

std::unique_ptr<PartialSource> simulatedRanks(Operations& operations, const ParallelPlan& plan,
                                              const at::Tensor& weight, numeric::DType layerType)
{
    if (plan.isTree())
        return std::make_unique<TreeRanks>(operations, plan, weight, layerType);
    return std::make_unique<SlicedRanks>(operations, plan.size, weight);
}

std::unique_ptr<LinearLayer> makeRowParallel(Operations& operations, const ParallelPlan& plan,
                                             std::unique_ptr<PartialSource> source, at::Tensor bias)
{
    return std::make_unique<RowParallelLinear>(operations, plan, std::move(source),
                                               std::move(bias));
}

} // namespace moire::capture
