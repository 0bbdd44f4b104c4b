// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/compare_arguments.h"
#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/terminal/arguments.h"
#include "app/terminal/work_watch.h"
#include "core/base/text.h"
#include "core/report/number.h"
#include "core/store/verify.h"

namespace moire::app {

namespace {

constexpr std::size_t mostFindings = 100;

std::string soundText(const std::string& file, const trace::Run& run)
{
    return base::visibleText(file) + ": sound, " + report::countOf(run.rowCount(), "row") + " of "
           + report::countOf(run.header().taps.size(), "tap")
           + (run.complete() ? "" : "; the capture is incomplete") + '\n';
}

std::string findingsText(const std::string& file, const std::vector<store::Finding>& findings)
{
    std::string text = base::visibleText(file) + ": damaged, "
                       + report::countOf(findings.size(), "finding")
                       + (findings.size() < mostFindings ? "" : " and perhaps more") + '\n';
    for (const store::Finding& finding : findings)
        text += "  " + base::visibleText(finding.place) + ": " + base::visibleText(finding.sentence)
                + '\n';
    return text;
}

} // namespace

int verifyCommand(int argc, const char* const* argv)
{
    CLI::App arguments("Holds a capture against its own digests and tables.", "moire-diff verify");
    std::string file;
    bool quiet = false;
    store::VerifyOptions options;
    options.limit = mostFindings;
    arguments.add_option("FILE", file, "The capture")->required();
    arguments.add_flag("--quiet", quiet, "No progress, and no word when the capture is sound");
    addThreads(arguments, options.threads);
    arguments.footer(
        "Exit status: 0 sound (an incomplete capture as far as it goes), 1 a digest or\n"
        "table disagrees, 2 the file cannot be read as a capture.\n"
        "\n"
        "Example:\n  moire-diff verify run.moire");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    Result<std::vector<store::Finding>> findings = std::vector<store::Finding>{};
    {
        WorkWatch watch("verifying", quiet ? ProgressLine::Quiet : ProgressLine::Shown);
        findings = store::verify(file, watch.stopToken(), watch.progress(), options);
    }
    if (!findings)
        return tell(findings.error());
    if (!findings->empty()) {
        const int printed = print(findingsText(file, *findings));
        return printed == exitEqual ? exitDivergent : printed;
    }
    const auto run = openRun(file);
    if (!run)
        return tell(run.error());
    return quiet ? exitEqual : print(soundText(file, **run));
}

} // namespace moire::app
