// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/compare_arguments.h"
#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/diff/output.h"
#include "app/terminal/arguments.h"
#include "app/terminal/terminal.h"
#include "app/terminal/work_watch.h"
#include "core/diff/noise_floor.h"
#include "core/report/format.h"

namespace moire::app {

namespace {

/// The noise floor: the reference against its repeat, over what is compared with the target.
/// The floor, and a remark where the repeat is none.
struct RepeatFloor
{
    std::shared_ptr<const diff::NoiseFloor> floor;
    std::string remark;
};

Result<RepeatFloor> floorOf(const trace::RunPointer& reference, const CompareArguments& given)
{
    const auto repeat = openRun(given.repeat);
    if (!repeat)
        return repeat.error();
    WorkWatch watch("measuring the noise floor",
                    given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
    diff::AlignmentOptions alignment = given.alignment;
    alignment.mapping = nullptr; // between the reference's names and the target's
    diff::ComparisonOptions comparison;
    comparison.resamples = 0;
    const auto report = diff::compare(reference, *repeat, alignment, comparison, given.threads,
                                      watch.stopToken(), watch.progress());
    if (!report)
        return report.error();
    RepeatFloor made{std::make_shared<const diff::NoiseFloor>(diff::NoiseFloor::of(*report)), {}};
    if (!report->environmentDifferences.empty()) {
        const diff::EnvironmentDifference& first = report->environmentDifferences.front();
        made.remark = "The repeat was not made like the reference (" + first.key + ": "
                      + first.reference + " in the reference, " + first.target
                      + " in the repeat): its difference is more than noise";
    }
    return made;
}

Result<diff::Report> compareRuns(const trace::RunPointer& reference,
                                 const trace::RunPointer& target, CompareArguments& given)
{
    RepeatFloor repeat;
    if (!given.repeat.empty()) {
        auto floor = floorOf(reference, given);
        if (!floor)
            return floor.error();
        repeat = std::move(*floor);
        given.comparison.floor = repeat.floor;
    }
    given.comparison.grid =
        formatOf(given) == report::Format::Html; // the only format that draws it
    WorkWatch watch("comparing", given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
    auto report = diff::compare(reference, target, given.alignment, given.comparison, given.threads,
                                watch.stopToken(), watch.progress());
    if (report && !repeat.remark.empty())
        report->alignment.remarks.push_back(repeat.remark);
    return report;
}

} // namespace

int compareCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Lays two captures over each other and shows where they first part.",
                       "moire-diff");
    CompareArguments given;
    describeCompare(arguments, given);
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    if (const auto complete = completeOptions(given); !complete)
        return tell(complete.error());
    auto output = Output::open(given.output, {given.reference, given.target, given.repeat,
                                              given.tolerance, given.mapping});
    if (!output)
        return tell(output.error());
    const auto reference = openRun(given.reference);
    if (!reference)
        return tell(reference.error());
    const auto target = openRun(given.target);
    if (!target)
        return tell(target.error());
    const auto report = compareRuns(*reference, *target, given);
    if (!report)
        return tell(report.error());
    const int status =
        output->write(report::reportText(formatOf(given), *report, **reference, **target,
                                         {given.output.empty() && mayColour(), given.quiet}));
    return status == exitEqual ? report->exit : status;
}

} // namespace moire::app
