// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/run_matrix.h"

#include "app/capture/commands.h"
#include "core/base/text.h"
#include "core/store/mapped_run.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace moire::app {

namespace fs = std::filesystem;

namespace {

/// Where the tokens come from and how they are chosen: not for a run that replays others'.
constexpr std::array<std::string_view, 15> tokenOptions{
    "text",    "prompts",     "ids",          "task",  "chat",  "letters",    "shots", "limit",
    "max-new", "temperature", "sample-top-k", "top-p", "min-p", "ignore-eos", "seed"};

std::string optionName(const CLI::Option& option)
{
    return option.get_positional() ? "model" : option.get_single_name();
}

/// What `command` was given, without what is the matrix's own.
std::vector<OptionValue> givenSettings(const CLI::App& command)
{
    std::vector<OptionValue> settings;
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = optionName(*option);
        if (option->count() == 0 || name == "matrix" || name == "output" || name == "dry-run")
            continue;
        const bool flag = option->get_items_expected_max() == 0;
        for (const std::string& value : option->results())
            settings.emplace_back(name, flag ? std::string() : value);
    }
    return settings;
}

struct Job
{
    std::string name;
    fs::path capture;
    RunArguments arguments;
    bool done = false; ///< its capture is there
};

/// The files that a run reads besides its model, as its options name them.
std::vector<fs::path> inputsOf(const RunArguments& arguments)
{
    std::vector<fs::path> paths;
    for (const auto* named :
         {&arguments.promptsFile, &arguments.idsFile, &arguments.reference, &arguments.policyFile})
        if (*named)
            paths.emplace_back(**named);
    if (arguments.task)
        paths.emplace_back(arguments.task->substr(arguments.task->find(':') + 1));
    for (const std::string& pattern : arguments.taps)
        if (pattern.starts_with('@'))
            paths.emplace_back(pattern.substr(1));
    return paths;
}

/// When a file, or the newest one of a folder, was written.
fs::file_time_type timeOf(const fs::path& path)
{
    std::error_code ignored;
    fs::file_time_type newest = fs::last_write_time(path, ignored);
    if (fs::is_directory(path, ignored))
        for (const auto& entry : fs::directory_iterator(path, ignored))
            newest = std::max(newest, entry.last_write_time(ignored));
    return newest;
}

/// Whether the capture is there, made by the same command from files that have not changed since.
/// Errors: Invalid when not so; those of a file that is no capture.
Result<bool> isDone(const Job& job)
{
    std::error_code ignored;
    if (!fs::exists(job.capture, ignored))
        return false;
    const fs::file_time_type made = fs::last_write_time(job.capture, ignored);
    std::vector<fs::path> inputs = inputsOf(job.arguments);
    inputs.emplace_back(job.arguments.model);
    for (const fs::path& input : inputs) {
        const bool replaced = job.arguments.reference && input == *job.arguments.reference
                              && !fs::exists(input, ignored);
        if (replaced || (fs::exists(input, ignored) && timeOf(input) > made))
            return Error{Errc::Invalid,
                         "is older than " + input.filename().string() + ", which it was made from",
                         job.capture.string(), "Remove it, or choose another folder with -o"};
    }
    const auto run = store::MappedRun::open(job.capture);
    if (!run)
        return run.error();
    if ((*run)->header().environment.text(trace::env::commandLine) != job.arguments.commandLine)
        return Error{Errc::Invalid, "was made with other options than the matrix has now",
                     job.capture.string(), "Remove it, or choose another folder with -o"};
    return (*run)->complete();
}

Result<std::vector<Job>> jobsOf(const RunMatrix& matrix, const std::vector<OptionValue>& given,
                                const fs::path& folder)
{
    std::vector<Job> jobs;
    for (const MatrixCell& cell : matrix.cells) {
        std::vector<OptionValue> settings = given;
        for (const OptionValue& setting : cell.settings) {
            if (std::any_of(given.begin(), given.end(),
                            [&](const OptionValue& g) { return g.first == setting.first; }))
                return Error{Errc::Invalid,
                             (setting.first == "model" ? "MODEL" : "--" + setting.first)
                                 + " was given, and the matrix sets it too",
                             {},
                             "Leave it out of one of them"};
            settings.push_back(setting);
        }
        if (matrix.withReference && !jobs.empty()) {
            std::erase_if(settings, [](const OptionValue& setting) {
                return std::ranges::find(tokenOptions, setting.first) != tokenOptions.end();
            });
            settings.emplace_back("replay-from", jobs.front().capture.string());
        }
        auto arguments = argumentsOf(wordsOf(settings));
        if (arguments) {
            RunArguments copy = *arguments;
            if (const auto checked = interpret(copy); !checked)
                arguments = checked.error();
        }
        if (!arguments) {
            Error error = arguments.error();
            error.place = cell.name;
            return error;
        }
        Job job{cell.name, folder / (cell.name + ".moire"), *std::move(arguments), false};
        job.arguments.output = job.capture.string();
        const auto done = isDone(job);
        if (!done)
            return done.error();
        job.done = *done;
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string planned(const std::vector<Job>& jobs)
{
    std::string text;
    for (const Job& job : jobs)
        text += base::visibleText(job.name) + (job.done ? ": done\n" : ": to run\n");
    return text;
}

} // namespace

Result<std::string> runMatrix(const CLI::App& command, const fs::path& file, const fs::path& folder,
                              bool dryRun)
{
    const auto matrix = readRunMatrix(file);
    if (!matrix)
        return matrix.error();
    auto jobs = jobsOf(*matrix, givenSettings(command), folder);
    if (!jobs)
        return jobs.error();
    if (dryRun)
        return planned(*jobs);
    std::error_code trouble;
    fs::create_directories(folder, trouble);
    if (trouble)
        return Error{Errc::Io, "cannot be made: " + trouble.message(), folder.string(),
                     "Choose another folder with -o"};
    std::string said;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < jobs->size(); ++i) {
        Job& job = (*jobs)[i];
        if (job.done) {
            said += base::visibleText(job.name) + ": done before\n";
            continue;
        }
        std::fprintf(stderr, "%s: %s (%zu of %zu)\n", programName,
                     base::visibleText(job.name).c_str(), i + 1, jobs->size());
        const auto ran = runCommand(std::move(job.arguments));
        if (!ran && (ran.error().code == Errc::Cancelled || (matrix->withReference && i == 0)))
            return ran.error();
        if (!ran)
            std::fprintf(stderr, "%s: %s: %s\n", programName, base::visibleText(job.name).c_str(),
                         ran.error().text().c_str());
        failed += ran ? 0 : 1;
        said += ran ? *ran : base::visibleText(job.name) + ": failed\n";
    }
    if (failed == 0)
        return said;
    std::fputs(said.c_str(), stdout);
    return Error{Errc::Internal,
                 std::to_string(failed) + " of " + std::to_string(jobs->size()) + " runs failed",
                 folder.string(), "Their sentences stand above; the same command tries them again"};
}

} // namespace moire::app
