// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/report/output_file.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moire::app {

/// Where a command's document goes: a file that appears whole or not at all, or the standard
/// output. Opened before the work, so that a mistake in its name shows at once.
class Output
{
public:
    /// `path` empty or "-": the standard output. Errors: Invalid when it is one of `inputs`; those
    /// of report::OutputFile.
    static Result<Output> open(const std::string& path, const std::vector<std::string>& inputs);

    bool isStandard() const { return !m_file; }

    /// The whole document; returns the exit status of having written it.
    int write(std::string_view document);

private:
    std::optional<report::OutputFile> m_file;
};

} // namespace moire::app
