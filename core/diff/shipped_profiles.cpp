// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/shipped_profiles.h"

#include <algorithm>

namespace moire::diff {

std::string shippedProfileNames()
{
    std::string names;
    for (const ShippedProfile& profile : shippedProfiles())
        names.append(names.empty() ? "" : ", ").append(profile.name);
    return names;
}

Result<Tolerance> findTolerance(const std::string& name)
{
    const auto profiles = shippedProfiles();
    const auto at =
        std::find_if(profiles.begin(), profiles.end(),
                     [&](const ShippedProfile& profile) { return profile.name == name; });
    if (at != profiles.end())
        return Tolerance::parse(at->text, name);
    auto read = Tolerance::read(name);
    if (!read && read.error().code == Errc::NotFound)
        return Error{Errc::NotFound, "there is no such profile, shipped or as a file", name,
                     "Shipped are " + shippedProfileNames()};
    return read;
}

} // namespace moire::diff
