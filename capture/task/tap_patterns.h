// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace moire::capture {

/// Tap patterns as given: "@FILE" stands for the patterns in FILE, one a line; empty lines and
/// those that begin with # are skipped. Errors: those of reading; Invalid for a file without a
/// pattern.
Result<std::vector<std::string>> expandTapPatterns(const std::vector<std::string>& given);

} // namespace moire::capture
