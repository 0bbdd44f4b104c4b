// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/change_kind.h"

#include <algorithm>
#include <array>

namespace moire::diff {

namespace {

/// Their values have either sign, so that a ratio of two of them says nothing.
constexpr std::array<std::string_view, 12> ofEitherSign{
    {"B6", "B9", "C9", "C10", "D1", "D2", "D3", "D4", "D8", "D11", "D12", "G5"}};
constexpr std::array<std::string_view, 4> places{{"position", "token", "layer", "rank"}};

bool isPlace(std::string_view unit)
{
    return std::find(places.begin(), places.end(), unit) != places.end();
}

} // namespace

ChangeKind changeKindOf(std::string_view id, std::string_view unit)
{
    const std::string_view bare = id.substr(0, id.find('['));
    if (unit == "%")
        return ChangeKind::Points;
    if (isPlace(unit)
        || std::find(ofEitherSign.begin(), ofEitherSign.end(), bare) != ofEitherSign.end())
        return ChangeKind::Difference;
    return ChangeKind::Percent;
}

std::string changeUnitOf(std::string_view id, std::string_view unit)
{
    switch (changeKindOf(id, unit)) {
    case ChangeKind::Points:
        return "points";
    case ChangeKind::Percent:
        return "%";
    case ChangeKind::Difference:
        break;
    }
    return std::string(unit) + (isPlace(unit) ? "s" : "");
}

} // namespace moire::diff
