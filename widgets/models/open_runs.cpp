// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/open_runs.h"

#include "core/diff/comparison.h"
#include "core/store/mapped_run.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace moire::widgets {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<std::shared_ptr<Compared>> compareRuns(const trace::RunPointer& reference,
                                              const trace::RunPointer& target, bool measured,
                                              std::stop_token stop, base::Progress& progress)
{
    diff::ComparisonOptions options;
    options.firstOnly = !measured;
    auto report = diff::compare(reference, target, {}, options,
                                std::max(1U, std::thread::hardware_concurrency()), stop, progress);
    if (!report)
        return report.error();
    auto compared = indexReport(reference, target, std::move(*report));
    compared->measured = measured;
    return compared;
}

} // namespace

Result<ComparedPointer> openRuns(const RunPaths& paths, std::stop_token stop,
                                 base::Progress& progress)
{
    const auto begin = Clock::now();
    auto reference = store::MappedRun::open(paths.reference.toStdString());
    if (!reference)
        return reference.error();
    auto target = store::MappedRun::open(paths.target.toStdString());
    if (!target)
        return target.error();
    auto compared = compareRuns(*reference, *target, false, stop, progress);
    if (!compared)
        return compared.error();
    (*compared)->referencePath = paths.reference;
    (*compared)->targetPath = paths.target;
    (*compared)->seconds = secondsSince(begin);
    return ComparedPointer(std::move(*compared));
}

Result<ComparedPointer> measureRuns(const ComparedPointer& opened, std::stop_token stop,
                                    base::Progress& progress)
{
    const auto begin = Clock::now();
    auto compared = compareRuns(opened->reference, opened->target, true, stop, progress);
    if (!compared)
        return compared.error();
    (*compared)->referencePath = opened->referencePath;
    (*compared)->targetPath = opened->targetPath;
    (*compared)->seconds = opened->seconds + secondsSince(begin);
    return ComparedPointer(std::move(*compared));
}

} // namespace moire::widgets
