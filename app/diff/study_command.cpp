// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/compare_arguments.h"
#include "app/diff/exit_status.h"
#include "app/diff/output.h"
#include "app/diff/several_runs.h"
#include "app/terminal/arguments.h"
#include "app/terminal/work_watch.h"
#include "core/diff/comparison.h"
#include "core/diff/head_capacity.h"
#include "core/diff/study.h"
#include "core/report/study_report.h"

#include <algorithm>

namespace moire::app {

namespace {

struct StudyArguments
{
    SeveralArguments several;
    std::string baseline; ///< a target's file; empty: the first
    std::string full;     ///< a target's file; empty: none
    diff::StudyOptions options;
};

Result<std::size_t> targetOf(const StudyArguments& given, const std::string& file,
                             const std::string& option)
{
    const auto& files = given.several.files;
    const auto at = std::find(files.begin() + 1, files.end(), file);
    if (at == files.end())
        return Error{Errc::Invalid, option + " names no target of the study", file,
                     "Name one of the files after the reference, as it stands there"};
    return static_cast<std::size_t>(at - files.begin()) - 1;
}

Result<void> complete(StudyArguments& given)
{
    given.options.threads = given.several.threads;
    if (!given.baseline.empty()) {
        const auto at = targetOf(given, given.baseline, "--baseline");
        if (!at)
            return at.error();
        given.options.baseline = *at;
    }
    if (!given.full.empty()) {
        const auto at = targetOf(given, given.full, "--full");
        if (!at)
            return at.error();
        given.options.full = *at;
    }
    return {};
}

/// Fits B13, which a single comparison leaves out, and drops the grid that it needed.
Result<void> fitHead(const trace::Run& reference, const trace::Run& target, diff::Report& report,
                     const std::stop_token& stop)
{
    auto capacity = diff::headCapacity(reference, target, report, {}, stop);
    if (!capacity)
        return capacity.error();
    const auto place =
        std::find_if(report.measures.begin(), report.measures.end(),
                     [&](const diff::Measure& measure) { return measure.id == capacity->id; });
    if (place != report.measures.end())
        *place = std::move(*capacity);
    report.rows = {};
    report.sites = {};
    report.logits = {};
    report.routes = {};
    return {};
}

Result<diff::StudyReport> studyOf(const StudyArguments& given)
{
    const auto runs = openRuns(given.several.files);
    if (!runs)
        return runs.error();
    WorkWatch watch("studying", given.several.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
    watch.progress().total = runs->size() - 1;
    diff::ComparisonOptions comparison;
    comparison.resamples = 0; // the study resamples all targets together
    std::vector<const trace::Run*> targetRuns;
    for (std::size_t i = 1; i < runs->size(); ++i)
        targetRuns.push_back((*runs)[i].get());
    const auto shared = diff::sharedRows(*runs->front(), targetRuns, given.several.alignment);
    if (!shared)
        return shared.error();
    diff::AlignmentOptions alignment = given.several.alignment;
    alignment.rows = shared->rows; // what is paired is over the same rows
    std::vector<diff::Report> reports;
    for (std::size_t i = 1; i < runs->size(); ++i) {
        base::Progress ofPair;
        auto report = diff::compare(runs->front(), (*runs)[i], alignment, comparison,
                                    given.several.threads, watch.stopToken(), ofPair);
        if (!report)
            return report.error();
        if (const auto fitted = fitHead(*runs->front(), *(*runs)[i], *report, watch.stopToken());
            !fitted)
            return fitted.error();
        reports.push_back(std::move(*report));
        ++watch.progress().done;
    }
    std::vector<diff::StudyTarget> targets;
    for (std::size_t i = 0; i < reports.size(); ++i)
        targets.push_back({reports[i], *(*runs)[i + 1], shared->ofTarget[i]});
    return diff::study(*runs->front(), targets, given.options);
}

} // namespace

int studyCommand(int argc, const char* const* argv)
{
    constexpr int fewest = 3;
    CLI::App arguments("Holds several targets against one reference: measures with paired "
                       "intervals, where the measures disagree, gain against cost.",
                       "moire-diff study");
    StudyArguments given;
    describeSeveral(arguments, given.several, fewest);
    addResamples(arguments, given.options.resamples);
    arguments
        .add_option("--baseline", given.baseline,
                    "The target that the others are held against (default: the first)")
        ->type_name("FILE");
    arguments
        .add_option("--full", given.full,
                    "The target with everything in full, for the gain retained (K3)")
        ->type_name("FILE");
    arguments.footer(
        "Exit status: 0 done, 2 trouble, 3 not comparable.\n"
        "\n"
        "Example:\n  moire-diff study h100.moire bf16.moire fp32-head.moire fp32.moire "
        "\\\n      --full fp32.moire --html -o study.html");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    if (const auto completed = complete(given); !completed)
        return tell(completed.error());
    const auto format = documentFormat(given.several);
    if (!format)
        return tell(format.error());
    auto output = Output::open(given.several.output, given.several.files);
    if (!output)
        return tell(output.error());
    const auto study = studyOf(given);
    if (!study)
        return tell(study.error());
    const std::size_t baseline = given.options.baseline;
    return output->write(*format == report::Format::Json   ? report::studyJson(*study, baseline)
                         : *format == report::Format::Html ? report::studyHtml(*study, baseline)
                                                           : report::studyText(*study, baseline));
}

} // namespace moire::app
