// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/report/text.h"
#include "core/trace/run.h"

#include <optional>
#include <string>
#include <string_view>

namespace moire::report {

/// The forms that a report comes in.
enum class Format
{
    Text,
    Json,
    Html,
    Csv,
    Markdown,
    Junit
};

/// By the word that options use: text, json, html, csv, md, junit.
std::optional<Format> formatNamed(std::string_view word);

/// By what a file's name ends in; text where that is nothing (a device, the standard output).
/// Invalid for an ending of no format: such a file would be opened by the wrong program.
Result<Format> formatOfFile(const std::string& file);

/// The whole report in that form. `options` are of text alone.
std::string reportText(Format format, const diff::Report& report, const trace::Run& reference,
                       const trace::Run& target, const TextOptions& options = {});

} // namespace moire::report
