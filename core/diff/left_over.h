// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <cstdint>
#include <string>

/// What a comparison did not reach, in words for the verdict. Every text is empty where there is
/// nothing to say, and has neither a capital nor a full stop.
namespace moire::diff {

/// "1 row", "2 rows".
std::string counted(std::uint64_t count, const std::string& noun);
/// What has no counterpart: "1 sample and 6 rows of the reference have no counterpart".
std::string leftOverText(const AlignmentSummary& alignment);
/// "the target capture is incomplete".
std::string incompleteText(const AlignmentSummary& alignment);
/// "9 rows are not comparable", of both runs together.
std::string notComparableText(const AlignmentSummary& alignment);

inline std::uint64_t rowsNotComparable(const AlignmentSummary& alignment)
{
    return alignment.rowsNotComparableReference + alignment.rowsNotComparableTarget;
}
/// Anything of the above.
inline bool isPartial(const AlignmentSummary& alignment)
{
    return !leftOverText(alignment).empty() || !incompleteText(alignment).empty()
           || rowsNotComparable(alignment) > 0;
}

} // namespace moire::diff
