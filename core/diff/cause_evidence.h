// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/fold_view.h"
#include "core/diff/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the rules of the cause look at, counted from the records.
namespace moire::diff {

/// Samples whose prompts part.
struct PromptDifference
{
    std::uint64_t samples = 0;
    std::string example; ///< "sample x at token 3"
};
PromptDifference promptDifference(const FoldView& view);

/// How many rows differ in any tensor, computed in the prefill and later.
struct RowPhases
{
    std::uint64_t prefill = 0, differentPrefill = 0;
    std::uint64_t later = 0, differentLater = 0;
};
RowPhases rowPhases(const FoldView& view);

/// An operation, whatever its layer, and where it makes differences of its own.
struct OpCount
{
    std::string name;
    std::uint64_t sites = 0;
    std::string first; ///< SITE
};
/// Over the first differing row of every sample (of the first 256 that differ): what follows it
/// there is mostly carried through K and V. In the order of their first sites.
std::vector<OpCount> introducingOps(const FoldView& view);

/// Rows whose routes changed, and how much of the error they carry: of the logits, or of the last
/// tap whose values were compared.
struct RoutingShare
{
    std::uint64_t rows = 0, changedRows = 0; ///< rows with routing known on both sides
    std::optional<double> firstMargin;       ///< of the reference, at the first changed slot
    std::optional<double> errorShare;        ///< Σ(t − r)² of those rows over that of all rows
    std::string errorOf;                     ///< the tap
};
RoutingShare routingShare(const FoldView& view);

/// A tap's name without the layer and the side: "self_attn.q_proj".
std::string opOf(const std::string& tap);
/// "3 rows", "1 row".
std::string countOf(std::uint64_t count, const std::string& noun);
/// "91 %", never rounded to 0 or 100 from what is neither.
std::string percentOf(double share);
/// Three significant digits.
std::string numberText(double value);
/// SITE of a divergence.
std::string siteText(const Divergence& divergence);

} // namespace moire::diff
