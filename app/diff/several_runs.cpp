// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/several_runs.h"

#include "app/diff/compare_arguments.h"
#include "app/diff/open_run.h"
#include "core/base/text.h"
#include "core/diff/same_run.h"

#include <filesystem>

namespace moire::app {

void describeSeveral(CLI::App& app, SeveralArguments& given, int fewest)
{
    constexpr int most = 256;
    app.add_option("REF T1 T2 ...", given.files, "The captures, the reference first")
        ->required()
        ->expected(fewest, most);
    auto* json = app.add_flag("--json", given.json, "Write one JSON document");
    app.add_flag("--html", given.html, "Write an HTML page")->excludes(json);
    app.add_option("-o,--output", given.output,
                   "Write to FILE instead of the standard output; its ending .json or .html says "
                   "how")
        ->type_name("FILE");
    app.add_flag("--quiet", given.quiet, "No progress");
    addThreads(app, given.threads);
    addSelection(app, given.alignment);
}

Result<report::Format> documentFormat(const SeveralArguments& given)
{
    using report::Format;
    if (given.json || given.html)
        return given.json ? Format::Json : Format::Html;
    const auto byEnding = report::formatOfFile(given.output);
    if (byEnding
        && (*byEnding == Format::Text || *byEnding == Format::Json || *byEnding == Format::Html))
        return *byEnding;
    const std::string ending = std::filesystem::path(given.output).extension().string();
    return Error{Errc::Invalid, "is not written in a format that ends in '" + ending + "'",
                 given.output, "End it in .txt, .json or .html, or give --json or --html"};
}

Result<std::vector<trace::RunPointer>> openRuns(const std::vector<std::string>& files)
{
    std::vector<trace::RunPointer> runs;
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::error_code ignored;
        for (std::size_t j = 0; j < i; ++j)
            if (std::filesystem::equivalent(files[i], files[j], ignored))
                return Error{Errc::Invalid, "is named twice", files[i],
                             "Name every capture once; a repeat is a second capture"};
        auto run = openRun(files[i]);
        if (!run)
            return run.error();
        for (const trace::RunPointer& other : runs)
            if (diff::holdSameRun(**run, *other))
                return Error{Errc::Invalid, "is a copy of " + base::visibleText(other->source()),
                             files[i], "Name every run once; a repeat is a second one"};
        runs.push_back(std::move(*run));
    }
    return runs;
}

} // namespace moire::app
