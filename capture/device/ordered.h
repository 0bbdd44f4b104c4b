// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/ordered_attention.h"
#include "capture/device/ordered_linear.h"
#include "capture/device/ordered_rows.h"
#include "capture/device/workers.h"

/// The arithmetic `ordered`: CPU kernels whose result for one row depends on that row alone.
///
/// Contract, the same on every instruction set (numeric/simd_target.h), for every number of
/// threads, for every number of rows in a call and for every length of a buffer beyond what a row
/// sees:
/// - dtypes are fp32, bf16 and fp16; inputs are widened exactly, all arithmetic is fp32 or wider, a
///   result is rounded once, to nearest, ties to even, where a function says "round".
/// - fp32 products are accumulated by the fused multiply-add acc ← round(a·b + acc); where an
///   instruction set has none (SSE4 and older) std::fma stands in, slower, with the same bits.
/// - a matrix product has one fp32 accumulator an output, from +0, over the inner index in
///   ascending order: |error| ≤ γ(K)·Σ|a·b|, γ(n) = n·u/(1 − n·u), u = 2⁻²⁴ (Higham 2002, 3.1).
/// - a reduction over a row (norms, softmax) has 16 stripes: element i goes to stripe i mod 16,
/// each
///   stripe adds in ascending i from +0, then the stripes are added 0+8, 1+9, …, 0+4, …, 0+2, …,
///   0+1: |error| ≤ γ(⌈n/16⌉ + 4)·Σ|terms|.
/// - exp, sin, cos, tanh, erf are computed in fp64 by fixed polynomials and rounded to fp32: within
///   0.501 ulp of the true value.
/// - a NaN result is the positive quiet NaN without payload (0x7FC00000, 0x7FC0, 0x7E00), since the
///   payload that hardware passes on depends on the order of operands.
