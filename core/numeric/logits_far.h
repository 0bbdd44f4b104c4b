// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/numeric/logits_pair.h"

#include <span>

namespace moire::numeric {

/// compareLogits of rows that its kernels do not take: at least two entries, all finite, of any
/// size. One entry after the other with the functions of the C library, in the stripes of
/// element_pair.h.
void compareFarLogits(std::span<const double> reference, std::span<const double> target,
                      LogitsSums& sums);

} // namespace moire::numeric
