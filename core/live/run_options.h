// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/wire/requests.h"

#include <string>
#include <vector>

namespace moire::live {

/// Words as a shell would part them: at blanks, but not within '…' or "…" or behind a backslash.
/// Errors: Invalid when a quote is left open.
Result<std::vector<std::string>> wordsIn(const std::string& text);

/// The file takes its place in the request, for this option. Errors: those of reading it.
Result<void> addFile(const std::string& option, const std::string& path, wire::RunRequest& request);

/// Further options of `moire-capture run`, such as "--tp 2 --ignore-eos", whose files are read here
/// and travel. Errors: Invalid (what is no option; an option that only the recorder has); those of
/// the files.
Result<void> addOptions(const std::string& words, wire::RunRequest& request);

/// Invalid when the request names no prompt.
Result<void> checkPrompt(const wire::RunRequest& request);

} // namespace moire::live
