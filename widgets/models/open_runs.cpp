// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/open_runs.h"

#include "core/diff/comparison.h"
#include "core/diff/noise_floor.h"
#include "core/diff/shipped_profiles.h"
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

unsigned threadCount()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

Result<std::shared_ptr<Compared>> compareRuns(const trace::RunPointer& reference,
                                              const trace::RunPointer& target,
                                              const diff::ComparisonOptions& options,
                                              std::stop_token stop, base::Progress& progress)
{
    auto report = diff::compare(reference, target, {}, options, threadCount(), stop, progress);
    if (!report)
        return report.error();
    auto compared = indexReport(reference, target, std::move(*report));
    compared->measured = !options.firstOnly;
    return compared;
}

/// What the reference and a repeat of it differ by.
Result<std::shared_ptr<const diff::NoiseFloor>> floorOf(const trace::RunPointer& reference,
                                                        const trace::RunPointer& target,
                                                        const QString& repeat, std::stop_token stop,
                                                        base::Progress& progress)
{
    auto run = store::MappedRun::open(repeat.toStdString());
    if (!run)
        return run.error();
    return diff::measureFloor(reference, *target, *run, {}, threadCount(), std::move(stop),
                              progress);
}

Result<diff::ComparisonOptions> optionsOf(const trace::RunPointer& reference,
                                          const trace::RunPointer& target, const Judging& judging,
                                          std::stop_token stop, base::Progress& progress)
{
    diff::ComparisonOptions options;
    auto tolerance = toleranceOf(judging);
    if (!tolerance)
        return tolerance.error();
    options.tolerance = std::move(*tolerance);
    if (!judging.repeat.isEmpty()) {
        auto floor = floorOf(reference, target, judging.repeat, stop, progress);
        if (!floor)
            return floor.error();
        options.floor = std::move(*floor);
    }
    return options;
}

} // namespace

Result<std::shared_ptr<const diff::Tolerance>> toleranceOf(const Judging& judging)
{
    if (!judging.tolerance.isEmpty()) {
        auto tolerance = diff::findTolerance(judging.tolerance.toStdString());
        if (!tolerance)
            return tolerance.error();
        return std::make_shared<const diff::Tolerance>(std::move(*tolerance));
    }
    std::vector<diff::Criterion> criteria;
    for (const QString& text : judging.criteria) {
        auto criterion = diff::parseCriterion(text.toStdString());
        if (!criterion)
            return criterion.error();
        criteria.push_back(std::move(*criterion));
    }
    if (criteria.empty())
        return std::shared_ptr<const diff::Tolerance>();
    return std::make_shared<const diff::Tolerance>(diff::Tolerance::everywhere(criteria));
}

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
    diff::ComparisonOptions options;
    options.firstOnly = true;
    auto compared = compareRuns(*reference, *target, options, stop, progress);
    if (!compared)
        return compared.error();
    (*compared)->referencePath = paths.reference;
    (*compared)->targetPath = paths.target;
    (*compared)->seconds = secondsSince(begin);
    return ComparedPointer(std::move(*compared));
}

Result<ComparedPointer> measureRuns(const ComparedPointer& opened, const Judging& judging,
                                    std::stop_token stop, base::Progress& progress)
{
    const auto begin = Clock::now();
    const auto options = optionsOf(opened->reference, opened->target, judging, stop, progress);
    if (!options)
        return options.error();
    auto compared = compareRuns(opened->reference, opened->target, *options, stop, progress);
    if (!compared)
        return compared.error();
    (*compared)->referencePath = opened->referencePath;
    (*compared)->targetPath = opened->targetPath;
    (*compared)->seconds = opened->seconds + secondsSince(begin);
    return ComparedPointer(std::move(*compared));
}

} // namespace moire::widgets
