// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/terminal/arguments.h"
#include "app/terminal/work_watch.h"
#include "core/report/array_export.h"
#include "core/report/number.h"

namespace moire::app {

namespace {

struct ExportArguments
{
    std::string file;
    std::string folder;
    report::ArrayExportOptions options;
    bool quiet = false;
};

void describe(CLI::App& arguments, ExportArguments& given)
{
    arguments.add_option("FILE", given.file, "The capture")->required();
    arguments
        .add_option("--npy", given.folder, "The folder to write to; made when it is not there")
        ->type_name("DIR")
        ->required();
    arguments
        .add_option("--taps", given.options.tapPatterns, "Only taps like this; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    arguments.add_option("--sample", given.options.sample, "Only this sample")->type_name("ID");
    arguments.add_flag("--raw", given.options.raw,
                       "Narrow floats as the integers of their bits (uint16), not widened");
    arguments.add_flag("--quiet", given.quiet, "No progress");
    arguments.footer("Writes <tap>.npy (rows × width), <router>.ids.npy and .weights.npy,\n"
                     "gen.ids.npy and rows.json; rows by sample, then position.\n"
                     "Example:\n  moire-diff export run.moire --npy arrays --taps '*.mlp.*'");
}

} // namespace

int exportCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Writes a capture's values as NumPy arrays.", "moire-diff export");
    ExportArguments given;
    describe(arguments, given);
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto run = openRun(given.file);
    if (!run)
        return tell(run.error());
    Result<report::ArrayExportResult> result = report::ArrayExportResult{};
    {
        WorkWatch watch("exporting", given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
        result = report::exportArrays(**run, given.folder, given.options, watch.stopToken(),
                                      watch.progress());
    }
    if (!result)
        return tell(result.error());
    if (result->valuesAbsent)
        std::fputs(
            "moire-diff: this capture holds no tap values (its level is below full); what it "
            "has was exported.\n",
            stderr);
    if (given.quiet)
        return exitEqual;
    return print(report::countOf(result->arrays, "array") + " of "
                 + report::countOf(result->rows, "row") + " written to " + given.folder + '\n');
}

} // namespace moire::app
