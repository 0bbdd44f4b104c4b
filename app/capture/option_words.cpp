// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/option_words.h"

#include "app/capture/commands.h"

#include <CLI/Config.hpp>

namespace moire::app {

/// The command line of a run, without its output.
std::vector<std::string> wordsOf(const std::vector<OptionValue>& settings)
{
    std::vector<std::string> words{programName, "run"};
    for (const auto& [option, value] : settings)
        if (option == "model")
            words.push_back(value);
    for (const auto& [option, value] : settings) {
        if (option == "model")
            continue;
        words.push_back("--" + option);
        if (!value.empty())
            words.push_back(value);
    }
    return words;
}

std::string lineOf(const std::vector<std::string>& words)
{
    std::vector<const char*> pointers;
    for (const std::string& word : words)
        pointers.push_back(word.c_str());
    return commandLineOf(static_cast<int>(pointers.size()), pointers.data());
}

Result<RunArguments> argumentsOf(const std::vector<std::string>& words)
{
    RunArguments arguments;
    CLI::App app("", "run");
    addRunOptions(app, arguments);
    std::vector<std::string> reversed(words.rbegin(), words.rend() - 2);
    try {
        app.parse(std::move(reversed));
    } catch (const CLI::ParseError& error) {
        // A validator puts what to do on a second line (arguments.cpp).
        const std::string message = error.what();
        const std::size_t line = message.find('\n');
        return Error{Errc::Invalid,
                     message.substr(0, line),
                     {},
                     line == std::string::npos ? "Try 'moire-capture run --help'"
                                               : message.substr(line + 1)};
    }
    arguments.commandLine = lineOf(words);
    return arguments;
}

} // namespace moire::app
