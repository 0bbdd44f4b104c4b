// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace moire::live {

/// Copies a capture to `to`, which appears whole or not at all and takes the place of a capture
/// that is there. Errors: Io, NoSpace; Invalid when
/// what is at `to` is no capture.
Result<void> copyWhole(const std::filesystem::path& from, const std::filesystem::path& to);

} // namespace moire::live
