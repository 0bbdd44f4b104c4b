// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/open_run.h"
#include "app/diff/terminal.h"
#include "core/diff/comparison.h"
#include "core/report/html.h"
#include "core/report/json.h"
#include "core/report/output_file.h"
#include "core/report/text.h"

#include <filesystem>

namespace moire::app {

namespace {

namespace fs = std::filesystem;

enum class Format
{
    Text,
    Json,
    Html
};

struct CompareArguments
{
    std::string reference;
    std::string target;
    std::optional<std::string> format;
    std::string output;
    diff::AlignmentOptions alignment;
    diff::ComparisonOptions comparison;
    unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    bool quiet = false;
};

constexpr unsigned mostThreads = 1024;

constexpr const char* footer =
    "Other commands, each with its own --help:\n"
    "  moire-diff info FILE                 what a capture holds\n"
    "  moire-diff show FILE SITE            values and bits at sample/position/tap[/element]\n"
    "  moire-diff verify FILE               digests and tables against the values\n"
    "  moire-diff export FILE --npy DIR     NumPy arrays\n"
    "A capture that is named like a command is reached as ./info.\n"
    "\n"
    "Exit status: 0 bitwise equal, 1 divergent, 2 trouble, 3 not comparable.\n"
    "\n"
    "Examples:\n"
    "  moire-diff h100.moire mi300x.moire\n"
    "  moire-diff h100.moire mi300x.moire -o report.html\n"
    "  moire-diff main.moire branch.moire --taps '*.mlp.*' --format json | jq .first.bitwise";

void describe(CLI::App& arguments, CompareArguments& given)
{
    arguments.add_option("REF", given.reference, "The reference capture")->required();
    arguments.add_option("TARGET", given.target, "The target capture")->required();
    arguments
        .add_option("--format", given.format,
                    "text, json or html; unless given, what the name of FILE ends in, else text")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->type_name("FORMAT");
    arguments
        .add_option("-o,--output", given.output, "Write to FILE instead of the standard output")
        ->type_name("FILE");
    arguments.add_flag("--first", given.comparison.firstOnly,
                       "Only the first divergences, from digests and tables; no value is read");
    arguments
        .add_option("--taps", given.alignment.tapPatterns,
                    "Compare only taps like this ('*' crosses dots); may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    arguments.add_flag("--allow-missing", given.comparison.allowMissing,
                       "What has no counterpart does not count as a difference");
    arguments.add_option("--threads", given.threads, "Threads to compare with")
        ->type_name("N")
        ->check(CLI::Range(1U, mostThreads));
    arguments.add_flag("--quiet", given.quiet, "No progress; of the text only the verdict");
    arguments.set_version_flag("--version", "moire-diff " MOIRE_VERSION);
    arguments.footer(footer);
}

Format formatOf(const CompareArguments& given)
{
    const std::string ending = fs::path(given.output).extension().string();
    const std::string name = given.format.value_or(ending == ".html" || ending == ".htm" ? "html"
                                                   : ending == ".json"                   ? "json"
                                                                                         : "text");
    if (name == "json")
        return Format::Json;
    return name == "html" ? Format::Html : Format::Text;
}

/// Overwriting a capture with a report about it would be a cruel answer to a typing error.
Result<void> checkOutput(const CompareArguments& given)
{
    for (const std::string& input : {given.reference, given.target}) {
        std::error_code ignored;
        if (fs::equivalent(given.output, input, ignored))
            return Error{Errc::Invalid, "is one of the captures to compare", given.output,
                         "Name another file to write"};
    }
    return {};
}

std::string written(const diff::Report& report, const trace::Run& reference,
                    const trace::Run& target, Format format, const CompareArguments& given)
{
    switch (format) {
    case Format::Json:
        return report::jsonText(report);
    case Format::Html:
        return report::htmlText(report, reference, target);
    case Format::Text:
        break;
    }
    return report::plainText(report, {given.output.empty() && mayColour(), given.quiet});
}

Result<diff::Report> compareRuns(const trace::RunPointer& reference,
                                 const trace::RunPointer& target, const CompareArguments& given)
{
    WorkWatch watch("comparing", given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
    auto report = diff::compare(reference, target, given.alignment, given.comparison, given.threads,
                                watch.stopToken(), watch.progress());
    // Pages of a file that shrank meanwhile read as zeros: such a report would be a lie.
    for (const trace::RunPointer& run : {reference, target})
        if (const auto sound = run->stillSound(); report && !sound)
            return sound.error();
    return report;
}

} // namespace

int compareCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Lays two captures over each other and shows where they first part.",
                       "moire-diff");
    CompareArguments given;
    describe(arguments, given);
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    std::optional<report::OutputFile> output;
    if (!given.output.empty()) {
        if (const auto checked = checkOutput(given); !checked)
            return tell(checked.error());
        auto created = report::OutputFile::create(given.output);
        if (!created)
            return tell(created.error());
        output = std::move(*created);
    }
    const auto reference = openRun(given.reference);
    if (!reference)
        return tell(reference.error());
    const auto target = openRun(given.target);
    if (!target)
        return tell(target.error());
    const auto report = compareRuns(*reference, *target, given);
    if (!report)
        return tell(report.error());
    const std::string text = written(*report, **reference, **target, formatOf(given), given);
    if (!output) {
        const int status = print(text);
        return status == exitEqual ? report->exit : status;
    }
    if (const auto done = output->write(text); !done)
        return tell(done.error());
    if (const auto done = output->commit(); !done)
        return tell(done.error());
    return report->exit;
}

} // namespace moire::app
