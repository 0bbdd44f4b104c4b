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
    std::string npy, csv, safetensors; ///< folders
    report::ArrayExportOptions options;
    bool quiet = false;
};

void describe(CLI::App& arguments, ExportArguments& given)
{
    arguments.add_option("FILE", given.file, "The capture")->required();
    arguments.add_option("--npy", given.npy, "Write NumPy arrays into this folder")
        ->type_name("DIR");
    arguments.add_option("--csv", given.csv, "Write CSV files into this folder")->type_name("DIR");
    arguments
        .add_option("--safetensors", given.safetensors,
                    "Write capture.safetensors, bits as recorded, into this folder")
        ->type_name("DIR");
    arguments
        .add_option("--taps", given.options.tapPatterns, "Only taps like this; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    arguments.add_option("--sample", given.options.sample, "Only this sample")->type_name("ID");
    arguments.add_flag("--raw", given.options.raw,
                       "Narrow floats as the integers of their bits (uint16), not widened");
    arguments.add_flag("--quiet", given.quiet, "No progress");
    arguments.footer(
        "Writes <tap> (rows × width), <router>.ids and .weights, gen.ids, each as .npy or .csv\n"
        "or together as capture.safetensors, and rows.json; rows by sample, then position.\n"
        "Folders are made where they are not there. An array that cannot have the name of its\n"
        "tap is called array-<n>; names.json says which.\n"
        "\n"
        "Examples:\n"
        "  moire-diff export run.moire --npy arrays --taps '*.mlp.*'\n"
        "  moire-diff export run.moire --csv table --sample fact --taps lm_head.out");
}

/// The one format that was asked for, and its folder.
Result<std::string> folderOf(ExportArguments& given)
{
    using report::ArrayFormat;
    std::string folder;
    int formats = 0;
    for (const auto& [asked, format] :
         {std::pair(&given.npy, ArrayFormat::Npy), std::pair(&given.csv, ArrayFormat::Csv),
          std::pair(&given.safetensors, ArrayFormat::Safetensors)}) {
        if (asked->empty())
            continue;
        ++formats;
        folder = *asked;
        given.options.format = format;
    }
    if (formats == 1 && folder == "-")
        return Error{Errc::Invalid,
                     "several files cannot go to the standard output",
                     {},
                     "Name a folder, or ./- for one of that name"};
    if (formats == 1)
        return folder;
    return Error{Errc::Invalid,
                 formats == 0 ? "there is no format to write" : "there is more than one format",
                 {},
                 "Give one of --npy DIR, --csv DIR and --safetensors DIR"};
}

} // namespace

int exportCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Writes a capture's values as NumPy arrays, CSV or safetensors.",
                       "moire-diff export");
    ExportArguments given;
    describe(arguments, given);
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto folder = folderOf(given);
    if (!folder)
        return tell(folder.error());
    const auto run = openRun(given.file);
    if (!run)
        return tell(run.error());
    Result<report::ArrayExportResult> result = report::ArrayExportResult{};
    {
        WorkWatch watch("exporting", given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
        result = report::exportArrays(**run, *folder, given.options, watch.stopToken(),
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
                 + report::countOf(result->rows, "row") + " written to " + *folder + '\n');
}

} // namespace moire::app
