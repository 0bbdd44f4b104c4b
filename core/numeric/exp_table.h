// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/dtype.h"

namespace moire::numeric {

/// e^x within a relative error of 3e-16, from products and sums
/// rounded one by one: the same bits on every machine. 0 below −707; x ≤ 700.
double plainExp(double x);

/// e^x of every value of bf16 or fp16 (assert) by plainExp, indexed by its bits; NaN where the
/// value is not finite and where e^x leaves fp64. 512 KiB a dtype, made on the first call; any
/// thread.
const double* expTable(DType dtype);

} // namespace moire::numeric
