// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/exit_status.h"
#include "app/diff/open_run.h"
#include "app/terminal/arguments.h"
#include "core/report/run_info.h"

namespace moire::app {

int infoCommand(int argc, const char* const* argv)
{
    CLI::App arguments(
        "Says what a capture holds: environment, samples, taps, whether it is complete.",
        "moire-diff info");
    std::string file;
    bool json = false;
    arguments.add_option("FILE", file, "The capture")->required();
    arguments.add_flag("--json", json, "Print one JSON document");
    arguments.footer("Example:\n  moire-diff info run.moire --json | jq .environment");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto run = openRun(file);
    if (!run)
        return tell(run.error());
    return print(json ? report::infoJson(**run) : report::infoText(**run));
}

} // namespace moire::app
