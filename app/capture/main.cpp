// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/commands.h"
#include "app/capture/remote_commands.h"
#include "app/capture/run_matrix.h"
#include "app/capture/serve_command.h"
#include "app/terminal/arguments.h"
#include "app/terminal/signals.h"
#include "app/terminal/terminal.h"

#include <exception>
#include <string_view>
#include <vector>

namespace {

using namespace moire;
using namespace moire::app;

int finish(const Result<std::string>& said)
{
    return said ? print(programName, *said) : tell(programName, said.error());
}

/// "tokenize MODEL Hello", as many would write first.
bool textWithoutOption(int argc, const char* const* argv)
{
    const std::vector<std::string_view> words(argv, argv + argc);
    constexpr std::size_t text = 3; ///< behind the program, "tokenize" and the model
    return words.size() > text && words[1] == "tokenize" && !words[2].starts_with('-')
           && !words[text].starts_with('-');
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
    CLI::Option* policy =
        tapsApp.add_option("--policy", taps.policy, "As of run (default: the model's own)")
            ->type_name("WORD");
    tapsApp.add_option("--policy-file", taps.policyFile, "As of run")
        ->type_name("FILE")
        ->excludes(policy);
    tapsApp.footer("Example:\n  moire-capture taps model/ | grep down_proj");

    TokenizeArguments tokenize;
    CLI::App& tokenizeApp = *arguments.add_subcommand("tokenize", "Print the token ids of a text");
    tokenizeApp.add_option("MODEL", tokenize.model, "Hugging Face folder or .gguf file")
        ->required();
    tokenizeApp.add_option("--text", tokenize.text, "The text")->type_name("STR");
    tokenizeApp.add_option("--file", tokenize.file, "A file, its bytes as they are")
        ->type_name("FILE");
    tokenizeApp.add_flag("--chat", tokenize.chat,
                         "The text is what a user says, put into the model's chat template");
    tokenizeApp.add_flag("--json", tokenize.json, "One JSON list");
    tokenizeApp.footer("Example:\n  moire-capture tokenize model/ --text 'Hello' --json");

    ServeArguments serve;
    CLI::App& serveApp =
        *arguments.add_subcommand("serve", "Run models for clients on other machines");
    addServeOptions(serveApp, serve);
    RemoteCommands remote(arguments);
    arguments.footer("Each command has its own --help.\n"
                     "Exit status: 0 all well, 2 trouble (one sentence says what and what to do).");
    if (textWithoutOption(argc, argv))
        return tell(programName, {Errc::Invalid,
                                  "tokenize takes the text by --text",
                                  {},
                                  "Write: moire-capture tokenize MODEL --text 'Hello'"});
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    if (runApp.parsed() && run.matrix)
        return finish(run.output ? runMatrix(runApp, *run.matrix, *run.output, run.dryRun)
                                 : Error{Errc::Invalid,
                                         "a matrix needs a folder for its captures",
                                         {},
                                         "Give it with -o"});
    if (runApp.parsed())
        return finish(runCommand(std::move(run)));
    if (serveApp.parsed())
        return finish(serveCommand(serve));
    if (tapsApp.parsed())
        return finish(tapsCommand(taps));
    if (auto said = remote.run())
        return finish(*said);
    return finish(tokenizeCommand(tokenize));
}

} // namespace

int main(int argc, char** argv)
{
    prepareSignals();
    try {
        return runProgram(argc, argv);
    } catch (const std::exception& failure) {
        return tell(programName, {Errc::Internal,
                                  failure.what(),
                                  {},
                                  "Memory may have run out; try fewer taps with --taps"});
    }
}
