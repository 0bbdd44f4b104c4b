// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::report {

/// A kind of first divergence: its key in the JSON contract, its words, its place in the report.
struct FirstKind
{
    std::string_view key;
    std::string_view words;
    std::optional<diff::Divergence> diff::FirstDivergences::*member;
};

inline constexpr std::array<FirstKind, 8> firstKinds{{
    {"bitwise", "bitwise", &diff::FirstDivergences::bitwise},
    {"tolerance", "tolerance", &diff::FirstDivergences::tolerance},
    {"floor", "noise floor", &diff::FirstDivergences::floor},
    {"topk", "top-5 set", &diff::FirstDivergences::topK},
    {"experts", "expert set", &diff::FirstDivergences::experts},
    {"argmax", "top-1 token", &diff::FirstDivergences::argmax},
    {"token", "emitted token", &diff::FirstDivergences::token},
    {"nonfinite", "NaN/Inf class", &diff::FirstDivergences::nonFinite},
}};

/// True when a profile or criteria were given.
inline bool hasTolerance(const diff::Report& report)
{
    return !report.toleranceProfile.empty() || !report.tolerance.empty();
}

/// "holds", "FAILS", "open" (sites whose values are not there differ by digest), or "nothing to
/// check".
std::string_view outcomeWord(const diff::CriterionOutcome& outcome);

/// What the absence of that kind means: "none", or the option that would look for it.
std::string_view absentText(const FirstKind& kind, const diff::Report& report);

/// "carried", and what differs where one element does not say it: "carried; token 5 for token 3".
std::string originText(const diff::Divergence& divergence);

/// The samples of the report as sites name them (diff::sampleName): "s/one", and "s/one#2" for a
/// repeat or where the id stands once more.
std::vector<std::string> sampleTexts(const diff::Report& report);

/// True for the kinds whose two values are ids (of a token or an expert), not element values.
inline bool holdsIds(const FirstKind& kind)
{
    return kind.key == "topk" || kind.key == "experts" || kind.key == "argmax"
           || kind.key == "token";
}

/// "sample/position/tap[/element]".
std::string siteText(const diff::Divergence& divergence);

/// "0.84765625 0x3f59", an id for the kinds that hold ids, "–" where nothing was recorded.
std::string sideText(const FirstKind& kind, const std::optional<double>& value,
                     const std::optional<std::uint64_t>& bits, numeric::DType dtype);

} // namespace moire::report
