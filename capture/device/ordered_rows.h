// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/workers.h"
#include "core/numeric/dtype.h"

#include <cstddef>
#include <cstdint>

/// Kernels that work on rows or elements. Unless said otherwise buffers are contiguous (rows ×
/// width, row-major) and `out` may be the same buffer as an input.
namespace moire::capture::device {

enum class Norm : std::uint8_t
{
    RmsRoundTwice, ///< round(x·r), r = 1/√(mean(x²) + eps); then × weight, round
    RmsRoundOnce,  ///< round((x·r)·weight)
    Layer,         ///< round((x − mean)·r·weight + bias), r of the mean of (x − mean)²
};

/// `weight`, `bias`: `width` values of `dtype`, null = none. The mean is the striped sum divided by
/// width; squares are added by fused multiply-add; r is 1 divided by the square root, each rounded.
/// Layer: d = x − mean; d·r rounded to fp32, then one fused multiply-add with weight (1) and bias
/// (0).
void normalise(Norm norm, const void* in, std::size_t inStride, const void* weight,
               const void* bias, float eps, void* out, std::size_t outStride, numeric::DType dtype,
               std::size_t rows, std::size_t width, Workers& workers);

enum class Curve : std::uint8_t
{
    Exp,
    Sin,
    Cos,
    Tanh,
    Sigmoid,
    Silu,     ///< x/(1 + e^−x)
    Gelu,     ///< x·(1 + erf(x/√2))/2
    GeluTanh, ///< one rounding
    GeluNew,  ///< GPT-2's: tanh form, a rounding to dtype after every elementwise operation
    Relu,
    ReluSquared, ///< the square rounds
};

/// out = round(curve(in)).
void applyCurve(Curve curve, const void* in, void* out, numeric::DType dtype, std::size_t count,
                Workers& workers);

/// out = round(a + b), round(a · b), round(a · factor).
void addElements(const void* a, const void* b, void* out, numeric::DType dtype, std::size_t count,
                 Workers& workers);
void multiplyElements(const void* a, const void* b, void* out, numeric::DType dtype,
                      std::size_t count, Workers& workers);
void scaleElements(const void* a, float factor, void* out, numeric::DType dtype, std::size_t count,
                   Workers& workers);
/// Each row times its own factor: round(in · factors[row]).
void scaleRows(const void* in, const float* factors, void* out, numeric::DType dtype,
               std::size_t rows, std::size_t width, Workers& workers);

/// out = round(exp(x − max)/Σexp) over each row, in fp32.
void softmaxRows(const void* in, numeric::DType inType, void* out, numeric::DType outType,
                 std::size_t rows, std::size_t width, Workers& workers);

enum class RotaryRounding : std::uint8_t
{
    Each, ///< q·cos, rotate_half(q)·sin and their sum each round to dtype (R1)
    Once, ///< fp32 products and sum, one rounding (R2)
};

/// cosines, sines: rows × half, fp32. angle = position · inverseFrequency in fp32; cos and sin of
/// it rounded to fp32, × attentionFactor, then rounded to `tableType` (the model's dtype in R1,
/// FP32 in R2) and kept widened.
void rotaryTable(const std::int64_t* positions, std::size_t rows, const float* inverseFrequency,
                 std::size_t half, float attentionFactor, numeric::DType tableType, float* cosines,
                 float* sines);

/// Rotates `heads` heads of 2·half elements a row, halves layout (i pairs with i + half). Rows are
/// `stride` elements apart, heads contiguous. `cosines`, `sines` as rotaryTable makes them.
void rotate(const void* in, std::size_t inStride, void* out, std::size_t outStride,
            numeric::DType dtype, std::size_t rows, std::size_t heads, std::size_t half,
            const float* cosines, const float* sines, RotaryRounding rounding, Workers& workers);

/// Router of a MoE layer: softmax of each row of logits in fp32 (not rounded to the logits' dtype),
/// the k best (ties by ascending id, NaN last) in descending order, weights divided by their sum
/// (slot order, fp32) if `normaliseWeights`, rounded to `weightType`. logits: rows × experts; ids:
/// rows × k; weights: rows × k of `weightType`.
void route(const void* logits, numeric::DType logitType, std::size_t rows, std::size_t experts,
           std::size_t k, bool normaliseWeights, std::int64_t* ids, void* weights,
           numeric::DType weightType, Workers& workers);

/// Sum over slots: slots is rows × k × width (weighted outputs, already rounded), `order` rows × k
/// the slots in the order to add. roundEach: out starts at 0 and rounds to dtype after every add
/// (transformers' "eager" experts); else an fp32 sum from +0, one rounding.
void sumSlots(const void* slots, const std::int32_t* order, void* out, numeric::DType dtype,
              std::size_t rows, std::size_t k, std::size_t width, bool roundEach, Workers& workers);

} // namespace moire::capture::device
