// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/policy.h"
#include "core/base/result.h"

#include <filesystem>

namespace moire::app {

/// Reads a policy that somebody wrote, in TOML or JSON (capture/engine/POLICIES.md). Which modules
/// its patterns match is for the model to say. Errors: those of settings::readSettings; Invalid
/// names the line and the key.
Result<capture::PolicyRules> readPolicyFile(const std::filesystem::path& path);

} // namespace moire::app
