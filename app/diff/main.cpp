// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/exit_status.h"
#include "app/terminal/signals.h"
#include "core/report/partial_file.h"

#include <array>
#include <exception>
#include <string_view>
#include <utility>

namespace {

using Command = int (*)(int, const char* const*);

/// Only the first argument can be a command, so that a capture of that name is still reachable as
/// "./info", and in the second place as it is.
int dispatch(int argc, const char* const* argv)
{
    constexpr std::array<std::pair<std::string_view, Command>, 6> commands{
        {{"info", moire::app::infoCommand},
         {"show", moire::app::showCommand},
         {"verify", moire::app::verifyCommand},
         {"export", moire::app::exportCommand},
         {"matrix", moire::app::matrixCommand},
         {"study", moire::app::studyCommand}}};
    for (const auto& [name, command] : commands)
        if (argc > 1 && name == argv[1])
            return command(argc - 1, argv + 1);
    return moire::app::compareCommand(argc, argv);
}

} // namespace

int main(int argc, char** argv)
{
    moire::app::prepareSignals(moire::report::removePartialFiles);
    try {
        return dispatch(argc, argv);
    } catch (const std::exception& failure) {
        return moire::app::tell({moire::Errc::Internal,
                                 failure.what(),
                                 {},
                                 "Memory may have run out; try fewer taps with --taps"});
    }
}
