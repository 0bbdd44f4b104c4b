// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

struct CsvRow
{
    std::vector<std::string> cells;
    std::size_t line = 0; ///< where it begins, from 1
};

/// Rows of a CSV text (RFC 4180: commas, cells in double quotes with "" for one; line breaks LF or
/// CRLF; a byte order mark is passed over). Empty lines are left out. Errors: Invalid for a quote
/// that is not closed, or text behind a closing one; `place` names the file.
Result<std::vector<CsvRow>> readCsv(std::string_view text, const std::string& place);

} // namespace moire::capture
