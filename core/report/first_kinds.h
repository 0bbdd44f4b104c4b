// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moire::report {

/// A kind of first divergence: its key in the JSON contract, its words, its place in the report.
struct FirstKind
{
    std::string_view key;
    std::string_view words;
    std::optional<diff::Divergence> diff::FirstDivergences::*member;
    std::string_view absent; ///< what its absence means
};

inline constexpr std::array<FirstKind, 8> firstKinds{{
    {"bitwise", "bitwise", &diff::FirstDivergences::bitwise, "none"},
    {"tolerance", "tolerance", &diff::FirstDivergences::tolerance, "no tolerance profile given"},
    {"floor", "noise floor", &diff::FirstDivergences::floor, "no repeat of the reference given"},
    {"topk", "top-5 set", &diff::FirstDivergences::topK, "none"},
    {"experts", "expert set", &diff::FirstDivergences::experts, "none"},
    {"argmax", "argmax", &diff::FirstDivergences::argmax, "none"},
    {"token", "emitted token", &diff::FirstDivergences::token, "none"},
    {"nonfinite", "NaN/Inf class", &diff::FirstDivergences::nonFinite, "none"},
}};

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
