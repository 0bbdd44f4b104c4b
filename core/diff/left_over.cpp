// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/left_over.h"

#include <vector>

namespace moire::diff {

namespace {

/// "1 sample and 6 rows of the reference"; empty when nothing is left over on that side.
std::string leftOverOf(std::uint64_t samples, std::uint64_t rows, std::uint64_t taps,
                       std::uint64_t routers, std::uint64_t tokens, const std::string& side)
{
    std::vector<std::string> parts;
    if (samples > 0)
        parts.push_back(counted(samples, "sample"));
    if (rows > 0)
        parts.push_back(counted(rows, "row"));
    if (taps > 0)
        parts.push_back(counted(taps, "tap"));
    if (routers > 0)
        parts.push_back(counted(routers, "router"));
    if (tokens > 0)
        parts.push_back("the tokens of " + counted(tokens, "sample"));
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text.empty() ? text : text + " of the " + side;
}

} // namespace

std::string counted(std::uint64_t count, const std::string& noun)
{
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string leftOverText(const AlignmentSummary& alignment)
{
    const std::string ours =
        leftOverOf(alignment.samplesOnlyReference.size(), alignment.rowsOnlyReference,
                   alignment.tapsOnlyReference.size(), alignment.routersOnlyReference.size(),
                   alignment.tokensOnlyReference, "reference");
    const std::string theirs =
        leftOverOf(alignment.samplesOnlyTarget.size(), alignment.rowsOnlyTarget,
                   alignment.tapsOnlyTarget.size(), alignment.routersOnlyTarget.size(),
                   alignment.tokensOnlyTarget, "target");
    const std::string text = ours + (ours.empty() || theirs.empty() ? "" : " and ") + theirs;
    if (text.empty())
        return text;
    const bool single = text.starts_with("1 ") && text.find(" and ") == std::string::npos;
    return text + (single ? " has no counterpart" : " have no counterpart");
}

std::string incompleteText(const AlignmentSummary& alignment)
{
    if (alignment.incompleteReference && alignment.incompleteTarget)
        return "both captures are incomplete";
    if (alignment.incompleteReference || alignment.incompleteTarget)
        return std::string("the ") + (alignment.incompleteReference ? "reference" : "target")
               + " capture is incomplete";
    return {};
}

std::string notComparableText(const AlignmentSummary& alignment)
{
    const std::uint64_t rows = rowsNotComparable(alignment);
    return rows == 0 ? std::string()
                     : counted(rows, "row") + (rows == 1 ? " is" : " are") + " not comparable";
}

} // namespace moire::diff
