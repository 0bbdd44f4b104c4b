// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/compared_report.h"

#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/terminal/terminal.h"
#include "app/terminal/work_watch.h"
#include "core/diff/noise_floor.h"
#include "core/report/format.h"
#include "core/report/not_comparable.h"

#include <memory>
#include <string>
#include <utility>

namespace moire::app {

namespace {

/// The noise floor: the reference against its repeat, over what is compared with the target.
/// The floor, and a remark where the repeat is none.
struct RepeatFloor
{
    std::shared_ptr<const diff::NoiseFloor> floor;
    std::string remark;
};

Result<RepeatFloor> floorOf(const trace::RunPointer& reference, const trace::RunPointer& target,
                            const CompareArguments& given)
{
    const auto repeat = openRun(given.repeat);
    if (!repeat)
        return repeat.error();
    WorkWatch watch("measuring the noise floor",
                    given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
    const auto floor = diff::measureFloor(reference, *target, *repeat, given.alignment,
                                          given.threads, watch.stopToken(), watch.progress());
    if (!floor)
        return floor.error();
    RepeatFloor made{*floor, {}};
    if (!(*floor)->environmentDifferences().empty()) {
        const diff::EnvironmentDifference& first = (*floor)->environmentDifferences().front();
        made.remark = "The repeat was not made like the reference (" + first.key + ": "
                      + first.reference + " in the reference, " + first.target
                      + " in the repeat): its difference is more than noise";
    }
    return made;
}

} // namespace

Result<diff::Report> compareRuns(const trace::RunPointer& reference,
                                 const trace::RunPointer& target, CompareArguments& given)
{
    RepeatFloor repeat;
    if (!given.repeat.empty()) {
        auto floor = floorOf(reference, target, given);
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

int writeReport(const diff::Report& report, const trace::Run& reference, const trace::Run& target,
                const CompareArguments& given, Output& output)
{
    const int status =
        output.write(report::reportText(formatOf(given), report, reference, target,
                                        {output.isStandard() && mayColour(), given.quiet}));
    return status == exitEqual ? report.exit : status;
}

int tellAbsence(const Error& error, const trace::Run& reference, const trace::Run& target,
                const CompareArguments& given, Output& output)
{
    const int status = tell(error);
    const report::Format format = formatOf(given);
    if (status != exitIncomparable || format == report::Format::Text)
        return status;
    const int written = output.write(report::reportText(
        format, report::notComparableReport(reference, target, error), reference, target));
    return written == exitEqual ? status : written;
}

} // namespace moire::app
