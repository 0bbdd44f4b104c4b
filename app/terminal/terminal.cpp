// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/terminal/terminal.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

namespace moire::app {

std::optional<int> parseArguments(CLI::App& arguments, int argc, const char* const* argv)
{
    const std::string program = arguments.get_name();
    try {
        arguments.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        const auto chosen = arguments.get_subcommands();
        return print(program, chosen.empty() ? arguments.help() : chosen.front()->help());
    } catch (const CLI::CallForVersion& version) {
        return print(program, std::string(version.what()) + '\n');
    } catch (const CLI::Error& error) {
        std::string sentence = error.what();
        std::replace(sentence.begin(), sentence.end(), '\n', ' ');
        while (sentence.ends_with(' ') || sentence.ends_with('.'))
            sentence.pop_back();
        return tell(program, {Errc::Invalid, sentence, {}, "Try '" + program + " --help'"});
    }
}

int tell(std::string_view program, const Error& error)
{
    std::fprintf(stderr, "%s: %s\n", std::string(program).c_str(), error.text().c_str());
    return exitTrouble;
}

int print(std::string_view program, std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (written && std::fflush(stdout) == 0)
        return exitWell;
    return tell(program, {Errc::Io, "cannot write to the standard output", {}, "Write to a file"});
}

} // namespace moire::app
