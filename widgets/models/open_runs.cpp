// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/open_runs.h"

#include "core/diff/comparison.h"
#include "core/store/mapped_run.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace moire::widgets {

Result<ComparedPointer> openRuns(const RunPaths& paths, std::stop_token stop,
                                 base::Progress& progress)
{
    const auto begin = std::chrono::steady_clock::now();
    auto reference = store::MappedRun::open(paths.reference.toStdString());
    if (!reference)
        return reference.error();
    auto target = store::MappedRun::open(paths.target.toStdString());
    if (!target)
        return target.error();
    auto report = diff::compare(*reference, *target, {}, {},
                                std::max(1U, std::thread::hardware_concurrency()), stop, progress);
    if (!report)
        return report.error();
    auto compared = indexReport(std::move(*reference), std::move(*target), std::move(*report));
    compared->referencePath = paths.reference;
    compared->targetPath = paths.target;
    compared->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return ComparedPointer(std::move(compared));
}

} // namespace moire::widgets
