// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/tolerance.h"

#include <span>
#include <string>
#include <string_view>

namespace moire::diff {

/// A tolerance profile that every program holds: a file of resources/tolerance.
struct ShippedProfile
{
    std::string_view name; ///< of the file, without its ending
    std::string_view text; ///< TOML
};

/// In alphabetical order.
std::span<const ShippedProfile> shippedProfiles();

/// "cross-hardware, fp32, noise, …"
std::string shippedProfileNames();

/// What `--tolerance` names: a shipped profile, else a file ("./strict" is always a file). Errors:
/// NotFound lists the shipped names; otherwise as Tolerance::read.
Result<Tolerance> findTolerance(const std::string& name);

} // namespace moire::diff
