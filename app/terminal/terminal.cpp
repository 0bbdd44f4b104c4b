// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/terminal.h"

#include "core/base/text.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace moire::app {

int tell(std::string_view program, const Error& error)
{
    // File names and arguments may hold what a terminal would obey.
    const std::string text = base::visibleText(error.text());
    std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), text.c_str());
    return exitTrouble;
}

int print(std::string_view program, std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0)
        return exitWell;
    return tell(program, {Errc::Io, "cannot write to the standard output", {}, "Write to a file"});
}

bool isDumbTerminal()
{
    const char* terminal = std::getenv("TERM");
    return terminal == nullptr || std::string_view(terminal) == "dumb";
}

bool mayColour()
{
    const auto isSet = [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    return ::isatty(STDOUT_FILENO) == 1 && !isSet("NO_COLOR") && !isDumbTerminal();
}

} // namespace moire::app
