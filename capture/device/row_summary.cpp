// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/row_fold.h"

#include <cassert>

namespace moire::capture::device {

namespace {

template <class Word>
RowSummary summariseRow(const Word* row, std::size_t width, bool half)
{
    LaneFold lanes[rowLanes];
    for (unsigned lane = 0; lane < rowLanes; ++lane)
        lanes[lane] = foldLane(row, width, lane, half);
    for (unsigned step = rowLanes / 2; step > 0; step /= 2)
        for (unsigned lane = 0; lane < step; ++lane)
            mergeFolds(lanes[lane], lanes[lane + step]);
    return summaryOf(lanes[0]);
}

} // namespace

void summariseRows(const void* rows, numeric::DType dtype, std::size_t count, std::size_t width,
                   std::size_t strideBytes, RowSummary* out)
{
    assert(numeric::isFloat(dtype) && numeric::sizeOf(dtype) >= 2 && numeric::sizeOf(dtype) <= 4);
    const auto* bytes = static_cast<const std::byte*>(rows);
    for (std::size_t r = 0; r < count; ++r) {
        const std::byte* row = bytes + r * strideBytes;
        out[r] = dtype == numeric::DType::FP32
                     ? summariseRow(reinterpret_cast<const std::uint32_t*>(row), width, false)
                     : summariseRow(reinterpret_cast<const std::uint16_t*>(row), width,
                                    dtype == numeric::DType::FP16);
    }
}

} // namespace moire::capture::device
