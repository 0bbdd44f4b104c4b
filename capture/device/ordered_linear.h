// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/workers.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace moire::capture::device {

/// A linear layer's weight, laid out once for the kernel: panels of 16 outputs, inside a panel the
/// inputs in order, 16 values each; in the weight's own dtype (fp32, bf16, fp16), so it takes as
/// much memory as the weight, rounded up to 16 outputs. Copies share the memory.
class PackedLinear
{
public:
    static constexpr std::size_t panelWidth = 16;

    PackedLinear() = default;

    /// `weight`: outputs × inputs, row-major, rows `stride` elements apart (as torch.nn.Linear
    /// keeps it; pass stride = inputs). `bias`: `outputs` values of `dtype`, or null.
    PackedLinear(const void* weight, numeric::DType dtype, std::size_t outputs, std::size_t inputs,
                 std::size_t stride, const void* bias, Workers& workers);

    bool empty() const { return m_outputs == 0; }
    std::size_t outputs() const { return m_outputs; }
    std::size_t inputs() const { return m_inputs; }
    std::size_t panels() const { return (m_outputs + panelWidth - 1) / panelWidth; }
    numeric::DType dtype() const { return m_dtype; }
    const std::byte* panel(std::size_t p) const { return m_panels.get() + p * m_panelBytes; }
    /// Widened, `panels() · 16` values; null without a bias.
    const float* bias() const { return m_bias ? m_bias->data() : nullptr; }

private:
    numeric::DType m_dtype = numeric::DType::FP32;
    std::size_t m_outputs = 0;
    std::size_t m_inputs = 0;
    std::size_t m_panelBytes = 0;
    std::shared_ptr<const std::byte[]> m_panels;
    std::shared_ptr<const std::vector<float>> m_bias;
};

/// y = round(x·Wᵀ + bias): `rows` rows of x (`inType`, `inStride` elements apart, W.inputs() wide)
/// to rows of y (`outType`, `outStride` apart, W.outputs() wide). Each output is one fp32
/// accumulator over the inputs in ascending order by fused multiply-add; the bias is added in fp32
/// before the one rounding. |error before the rounding| ≤ γ(inputs + 1)·(Σ|x·w| + |bias|).
void linear(const void* in, numeric::DType inType, std::size_t inStride, std::size_t rows,
            const PackedLinear& weight, void* out, numeric::DType outType, std::size_t outStride,
            Workers& workers);

} // namespace moire::capture::device
