// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/compare_arguments.h"
#include "app/diff/compared_report.h"
#include "app/diff/exit_status.h"
#include "app/diff/live_arguments.h"
#include "app/diff/live_command.h"
#include "app/diff/open_run.h"
#include "app/diff/output.h"
#include "app/terminal/arguments.h"

namespace moire::app {

namespace {

int compareFiles(CompareArguments& given, Output& output)
{
    const auto reference = openRun(given.reference);
    if (!reference)
        return tell(reference.error());
    const auto target = openRun(given.target);
    if (!target)
        return tell(target.error());
    const auto report = compareRuns(*reference, *target, given);
    if (!report)
        return tellAbsence(report.error(), **reference, **target, given, output);
    return writeReport(*report, **reference, **target, given, output);
}

} // namespace

int compareCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Lays two captures over each other and shows where they first part.",
                       "moire-diff");
    CompareArguments given;
    LiveArguments live;
    describeCompare(arguments, given);
    describeLive(arguments, live);
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    if (const auto complete = completeOptions(given); !complete)
        return tell(complete.error());
    if (live.live)
        if (const auto checked = checkLive(given, live); !checked)
            return tell(checked.error());
    auto output = Output::open(given.output, {given.reference, given.target, given.repeat,
                                              given.tolerance, given.mapping});
    if (!output)
        return tell(output.error());
    return live.live ? compareLive(given, live, *output) : compareFiles(given, *output);
}

} // namespace moire::app
