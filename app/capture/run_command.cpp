// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/commands.h"
#include "app/terminal/duration.h"
#include "app/terminal/work_watch.h"
#include "capture/engine/run_estimate.h"
#include "capture/task/benchmark.h"
#include "capture/task/prompts.h"
#include "capture/task/token_offsets.h"
#include "core/base/text.h"
#include "core/store/mapped_run.h"
#include "core/store/writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace moire::app {

namespace env = trace::env;
namespace fs = std::filesystem;

namespace {

/// One sentence on stderr, the name as a terminal may show it.
void remark(const std::string& name, const char* sentence)
{
    std::fprintf(stderr, "%s: %s %s\n", programName, base::visibleText(name).c_str(), sentence);
}

/// Says what a replay of this reference leaves out, or may mix up.
void remarkOn(const std::string& name, const store::MappedRun& reference,
              const capture::Checkpoint& checkpoint)
{
    constexpr int hexadecimal = 16;
    if (!reference.complete() && reference.rowCount() > 0)
        remark(name, "is incomplete; its rows so far are replayed.");
    const std::string recorded = reference.header().environment.text(env::tokenizerDigest);
    if (checkpoint.tokenizer && !recorded.empty()
        && std::strtoull(recorded.c_str(), nullptr, hexadecimal) != checkpoint.tokenizer->digest())
        remark(name, "was recorded with another tokenizer; its token ids are scored as they are.");
}

capture::TaskOptions taskOf(const RunArguments& arguments)
{
    capture::TaskOptions task;
    task.source = *arguments.task;
    task.chat = arguments.chat;
    task.shots = arguments.shots;
    task.limit = arguments.limit;
    if (arguments.letters.empty())
        return task;
    task.letters.clear();
    for (std::size_t begin = 0; begin <= arguments.letters.size();) {
        const std::size_t end =
            std::min(arguments.letters.find(',', begin), arguments.letters.size());
        task.letters.push_back(arguments.letters.substr(begin, end - begin));
        begin = end + 1;
    }
    return task;
}

Result<std::vector<capture::Prompt>> promptsOf(const RunArguments& arguments,
                                               const capture::Checkpoint& checkpoint)
{
    capture::TextEncoding encoding{checkpoint.tokenizer.get(), checkpoint.tokenizerError, {}};
    if (arguments.chat)
        if (auto found = capture::takeChatTemplate(arguments.model, encoding); !found)
            return found.error();
    if (arguments.task) {
        if (!checkpoint.tokenizer)
            return checkpoint.tokenizerError;
        return capture::promptsFromTask(taskOf(arguments), encoding);
    }
    if (arguments.text)
        return capture::promptsFromText(*arguments.text, encoding);
    if (arguments.promptsFile)
        return capture::promptsFromFile(*arguments.promptsFile, encoding);
    if (arguments.idsFile)
        return capture::promptsFromIds(*arguments.idsFile);
    const auto reference = store::MappedRun::open(*arguments.reference);
    if (!reference)
        return reference.error();
    remarkOn(*arguments.reference, **reference, checkpoint);
    return capture::promptsFromRun(**reference, checkpoint.tokenizer.get(),
                                   arguments.options.prefix);
}

std::string sizeText(std::uint64_t bytes)
{
    constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
    constexpr double thousand = 1000;
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= thousand && unit + 1 < units.size(); ++unit)
        value /= thousand;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text.data();
}

std::string counted(std::uint64_t number, const char* thing)
{
    return std::to_string(number) + ' ' + thing + (number == 1 ? "" : "s");
}

std::string summary(const capture::RunPlan& plan, std::uint64_t rows, std::size_t samples)
{
    return counted(rows, "row") + " of " + counted(samples, "sample") + ", "
           + counted(plan.header.taps.size(), "tap");
}

/// A name of our own in the current folder, one that nothing has yet.
fs::path ownName(const trace::Environment& environment)
{
    std::string stem = environment.text(env::modelName) + '-' + environment.text(env::policy) + '-'
                       + environment.text(env::arithmetic);
    for (char& c : stem)
        if (c == '/' || c == ' ' || c == '\0')
            c = '-';
    for (unsigned number = 1;; ++number) {
        const fs::path path =
            stem + (number == 1 ? std::string() : '-' + std::to_string(number)) + ".moire";
        std::error_code ignored;
        if (!fs::exists(path, ignored) && !fs::exists(store::partialPathOf(path), ignored))
            return path;
    }
}

Result<void> checkOutput(const RunArguments& arguments)
{
    std::error_code ignored;
    if (arguments.output && arguments.reference
        && fs::equivalent(*arguments.output, *arguments.reference, ignored))
        return Error{Errc::Invalid, "the output is the reference itself", *arguments.output,
                     "Choose another name with -o"};
    return {};
}

void completeEnvironment(const RunArguments& arguments, trace::Environment& environment)
{
    environment.set(env::program, std::string(programName) + " " MOIRE_VERSION);
    environment.set(env::commandLine, arguments.commandLine);
    if (arguments.reference)
        environment.set(env::replaySource, fs::path(*arguments.reference).filename().string());
}

/// What went wrong, and what is left of the run.
Error interrupted(Error error, const fs::path& part, std::uint64_t rows, std::uint64_t planned)
{
    if (error.code == Errc::Cancelled)
        error = {Errc::Cancelled,
                 "stopped on request after " + std::to_string(rows) + " of "
                     + counted(planned, "row"),
                 {},
                 {}};
    std::error_code ignored;
    if (!fs::exists(part, ignored))
        return error;
    if (rows == 0) {
        fs::remove(part, ignored);
        return error;
    }
    const auto left = store::MappedRun::open(part);
    if (!error.hint.empty())
        error.hint += ". ";
    error.hint += left ? "What was recorded is in " + part.string() + ", which opens as incomplete"
                       : "What reached the disk is in " + part.string() + ", which does not open";
    return error;
}

Result<std::string> record(const RunArguments& arguments, const capture::Checkpoint& checkpoint,
                           const capture::RunPlan& plan,
                           const std::vector<capture::Prompt>& prompts, WorkWatch& watch)
{
    const capture::RunOptions& options = arguments.options;
    const fs::path path =
        arguments.output ? fs::path(*arguments.output) : ownName(plan.header.environment);
    store::WriterOptions writing;
    writing.expectedRows = plan.rows;
    writing.expectedRowsExact = options.maxNew == 0 || options.ignoreEnd;
    auto writer = store::Writer::create(path, plan.header, writing);
    if (!writer)
        return writer.error();
    const fs::path part = (*writer)->partialPath();
    capture::TokenOffsets sink(**writer);
    const auto model = capture::loadModel(checkpoint, options);
    auto ran = !model ? Result<void>(model.error())
                      : capture::runModel(**model, checkpoint, options, plan, prompts, sink,
                                          watch.stopToken(), watch.progress());
    writer->reset(); // commits what a run that ended early still holds
    if (!ran)
        return interrupted(ran.error(), part, sink.rowsHandedOn(), plan.rows);
    std::error_code ignored;
    return base::visibleText(path.string()) + ": "
           + summary(plan, sink.rowsHandedOn(), prompts.size()) + ", "
           + sizeText(fs::file_size(path, ignored)) + '\n';
}

} // namespace

Result<std::string> runCommand(RunArguments arguments)
{
    if (auto done = interpret(arguments); !done)
        return done.error();
    if (auto checked = checkOutput(arguments); !checked)
        return checked.error();
    // Before any library starts its threads, which then leave the signals to the watch.
    WorkWatch watch("capturing", ProgressLine::Shown, "rows");
    const auto checkpoint = capture::openCheckpoint(arguments.model);
    if (!checkpoint)
        return checkpoint.error();
    const auto prompts = promptsOf(arguments, *checkpoint);
    if (!prompts)
        return prompts.error();
    arguments.options.digestWeights = !arguments.dryRun;
    auto plan = capture::planRun(*checkpoint, arguments.options, *prompts);
    if (!plan)
        return plan.error();
    if (arguments.limitBytes && plan->bytes > *arguments.limitBytes)
        return Error{
            Errc::Invalid,
            "would write up to " + sizeText(plan->bytes) + ", more than the limit of "
                + sizeText(*arguments.limitBytes),
            {},
            "Take fewer --taps, another --level or fewer tokens; --dry-run shows the size"};
    if (arguments.dryRun) {
        const auto seconds = capture::estimateSeconds(*checkpoint, arguments.options, *prompts);
        if (!seconds)
            return seconds.error();
        return tapLines(plan->header.taps) + "at most "
               + summary(*plan, plan->rows, prompts->size()) + ", " + sizeText(plan->bytes) + " ("
               + std::to_string(plan->bytes) + "), roughly " + durationText(*seconds) + '\n';
    }
    completeEnvironment(arguments, plan->header.environment);
    return record(arguments, *checkpoint, *plan, *prompts, watch);
}

} // namespace moire::app
