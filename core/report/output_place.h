// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <optional>

namespace moire::report {

/// Where a name leads: through symbolic links, also to a file that is not there yet. Io when they
/// lead nowhere.
Result<std::filesystem::path> behindLinks(const std::filesystem::path& path);

/// The number in /dev/fd/7 or /proc/self/fd/7; of /dev/stdout 1, of /dev/stderr 2. Opened by name
/// such a file would begin anew at its start, and a socket could not be opened at all.
std::optional<int> descriptorNamed(const std::filesystem::path& path);

} // namespace moire::report
