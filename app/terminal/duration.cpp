// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/duration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace moire::app {

std::string durationText(double seconds)
{
    constexpr std::uint64_t sixty = 60;
    const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::ceil(seconds)));
    if (whole < sixty)
        return std::to_string(whole) + " s";
    if (whole < sixty * sixty)
        return std::to_string(whole / sixty) + " min " + std::to_string(whole % sixty) + " s";
    const std::uint64_t minutes = whole / sixty;
    return std::to_string(minutes / sixty) + " h " + std::to_string(minutes % sixty) + " min";
}

} // namespace moire::app
