// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/commands.h"
#include "app/capture/recorded_file.h"
#include "app/capture/run_material.h"
#include "app/terminal/duration.h"
#include "app/terminal/work_watch.h"
#include "capture/engine/run_estimate.h"
#include "capture/task/token_offsets.h"
#include "core/base/text.h"
#include "core/store/writer.h"

namespace moire::app {

namespace fs = std::filesystem;

namespace {

std::string summary(const capture::RunPlan& plan, std::uint64_t rows, std::size_t samples)
{
    return summaryOf(rows, samples, plan.header.taps.size());
}

Result<std::string> record(const RunArguments& arguments, const capture::Checkpoint& checkpoint,
                           const RunMaterial& material, WorkWatch& watch)
{
    const auto& [options, prompts, plan] = material;
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
        return leftBy(ran.error(), part, sink.rowsHandedOn(), plan.rows);
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
    arguments.options.digestWeights = !arguments.dryRun;
    const auto material = materialOf(arguments, *checkpoint);
    if (!material)
        return material.error();
    if (!arguments.dryRun)
        return record(arguments, *checkpoint, *material, watch);
    const auto seconds =
        capture::estimateSeconds(*checkpoint, material->options, material->prompts);
    if (!seconds)
        return seconds.error();
    const capture::RunPlan& plan = material->plan;
    return tapLines(plan.header.taps) + "at most "
           + summary(plan, plan.rows, material->prompts.size()) + ", " + sizeText(plan.bytes) + " ("
           + std::to_string(plan.bytes) + "), roughly " + durationText(*seconds) + '\n';
}

} // namespace moire::app
