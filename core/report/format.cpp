// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/format.h"

#include "core/report/csv.h"
#include "core/report/html.h"
#include "core/report/json.h"
#include "core/report/junit.h"
#include "core/report/markdown.h"

#include <array>
#include <filesystem>
#include <span>
#include <utility>

namespace moire::report {

namespace {

using Name = std::pair<std::string_view, Format>;

constexpr std::array<Name, 6> words{{{"text", Format::Text},
                                     {"json", Format::Json},
                                     {"html", Format::Html},
                                     {"csv", Format::Csv},
                                     {"md", Format::Markdown},
                                     {"junit", Format::Junit}}};
constexpr std::array<Name, 8> endings{{{"", Format::Text},
                                       {".txt", Format::Text},
                                       {".json", Format::Json},
                                       {".html", Format::Html},
                                       {".htm", Format::Html},
                                       {".csv", Format::Csv},
                                       {".md", Format::Markdown},
                                       {".xml", Format::Junit}}};

std::optional<Format> findIn(std::span<const Name> names, std::string_view wanted)
{
    for (const auto& [name, format] : names)
        if (name == wanted)
            return format;
    return std::nullopt;
}

} // namespace

std::optional<Format> formatNamed(std::string_view word)
{
    return findIn(words, word);
}

Result<Format> formatOfFile(const std::string& file)
{
    const std::string ending = std::filesystem::path(file).extension().string();
    if (const auto format = findIn(endings, ending))
        return *format;
    return Error{Errc::Invalid, "no format of reports has the ending '" + ending + "'", file,
                 "End it in .html, .json, .csv, .md, .xml or .txt, or give the format"};
}

std::string reportText(Format format, const diff::Report& report, const trace::Run& reference,
                       const trace::Run& target, const TextOptions& options)
{
    switch (format) {
    case Format::Json:
        return jsonText(report);
    case Format::Html:
        return htmlText(report, reference, target);
    case Format::Csv:
        return csvText(report);
    case Format::Markdown:
        return markdownText(report);
    case Format::Junit:
        return junitText(report);
    case Format::Text:
        break;
    }
    return plainText(report, options);
}

} // namespace moire::report
