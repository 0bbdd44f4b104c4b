// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/commands.h"
#include "app/terminal/terminal.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <exception>
#include <string_view>

namespace {

using namespace moire;
using namespace moire::app;

int finish(const Result<std::string>& said)
{
    return said ? print(programName, *said) : tell(programName, said.error());
}

int runProgram(int argc, const char* const* argv)
{
    CLI::App arguments("Runs a language model and records what every module computes", programName);
    arguments.set_version_flag("--version", std::string(programName) + " " MOIRE_VERSION);
    arguments.require_subcommand(1);

    RunArguments run;
    run.commandLine = commandLineOf(argc, argv);
    CLI::App& runApp = *arguments.add_subcommand("run", "Run a model and record it");
    addRunOptions(runApp, run);

    TapsArguments taps;
    CLI::App& tapsApp = *arguments.add_subcommand("taps", "List what can be recorded of a model");
    tapsApp.add_option("MODEL", taps.model, "Hugging Face folder or .gguf file")->required();
    tapsApp.add_option("--policy", taps.policy, "bf16 or fp32 (default: the model's own)");

    TokenizeArguments tokenize;
    CLI::App& tokenizeApp = *arguments.add_subcommand("tokenize", "Print the token ids of a text");
    tokenizeApp.add_option("MODEL", tokenize.model, "Hugging Face folder or .gguf file")
        ->required();
    tokenizeApp.add_option("--text", tokenize.text, "The text");
    tokenizeApp.add_option("--file", tokenize.file, "A file, its bytes as they are");
    tokenizeApp.add_flag("--json", tokenize.json, "One JSON list");

    const std::string_view first = argc > 1 ? argv[1] : "";
    if (!first.empty() && !first.starts_with('-') && first != "run" && first != "taps"
        && first != "tokenize")
        return tell(programName, {Errc::Invalid,
                                  "there is no command '" + std::string(first) + "'",
                                  {},
                                  "The commands are run, taps and tokenize"});
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    if (runApp.parsed())
        return finish(runCommand(std::move(run)));
    if (tapsApp.parsed())
        return finish(tapsCommand(taps));
    return finish(tokenizeCommand(tokenize));
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return runProgram(argc, argv);
    } catch (const std::exception& failure) {
        return tell(programName, {Errc::Internal,
                                  failure.what(),
                                  {},
                                  "Memory may have run out; try fewer taps with --taps"});
    }
}
