// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/ordered_rows.h"

#include <cstddef>

namespace moire::capture::device {

/// Elements in one piece of element-wise work.
inline constexpr std::size_t pieceSize = 16384;
constexpr std::size_t pieces(std::size_t count)
{
    return (count + pieceSize - 1) / pieceSize;
}

/// Exp, Sigmoid or Silu of elements [begin, end), by the instruction set in use.
void applyExpCurve(Curve curve, const void* in, void* out, numeric::DType dtype, std::size_t begin,
                   std::size_t end);

} // namespace moire::capture::device
