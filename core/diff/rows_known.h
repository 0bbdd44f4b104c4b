// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"

#include <string>
#include <string_view>

/// What the makers of families E and F share.
namespace moire::diff {

/// Without brackets an id means this K.
inline constexpr std::uint32_t plainK = 5;

/// The id of a measure at K.
std::string withK(std::string_view id, std::uint32_t k);

/// Why a measure over the best k has no value.
std::string whyNoList(const FoldView& view, std::uint32_t k);

/// Visits the rows in which both sides know the best topKSizes[sizeAt].
template <class Visit>
void forEachKnown(const FoldView& view, std::size_t sizeAt, Visit visit)
{
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if ((record.logits.row.known >> sizeAt & 1U) != 0)
            visit(row, record.logits);
    });
}

inline double bitAt(std::uint8_t bits, std::size_t i)
{
    return (bits >> i & 1U) != 0 ? 1.0 : 0.0;
}

} // namespace moire::diff
