// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/live_command.h"

#include "app/diff/compared_report.h"
#include "app/diff/exit_status.h"
#include "app/diff/live_sides.h"
#include "app/diff/pair_watch.h"
#include "core/base/freed_memory.h"
#include "core/report/number.h"
#include "core/store/target_path.h"
#include "core/store/writer.h"

#include <filesystem>
#include <memory>
#include <utility>

namespace moire::app {

namespace fs = std::filesystem;

namespace {

using live::Which;

/// A run that was not recorded to its end becomes an incomplete capture all the same.
int settleSaved(const std::string& saved, const live::SideStatus& status, bool quiet)
{
    if (saved.empty())
        return exitEqual;
    const fs::path part = store::partialPathOf(saved);
    std::error_code ignored;
    if (!fs::exists(part, ignored))
        return exitEqual;
    if (status.rows == 0) {
        fs::remove(part, ignored);
        return exitEqual;
    }
    if (const auto placed = store::putInPlace(part, saved); !placed)
        return tell(placed.error());
    if (!quiet)
        remark(
            saved + " is incomplete: " + report::countOf(status.rows, "row")
            + (status.planned == 0 ? "." : " of at most " + std::to_string(status.planned) + '.'));
    return exitEqual;
}

int writeFindings(PairWatch& pair, CompareArguments& compare, Output& output)
{
    const live::LiveComparison& comparison = pair.comparison();
    if (compare.repeat.empty() && comparison.hasReport())
        return writeReport(comparison.report(), *comparison.reference(), *comparison.target(),
                           compare, output);
    const auto reference = pair.snapshot(Which::Reference);
    if (!reference)
        return tell(reference.error());
    const auto target = pair.snapshot(Which::Target);
    if (!target)
        return tell(target.error());
    const auto report = compareRuns(*reference, *target, compare);
    if (!report)
        return tellAbsence(report.error(), **reference, **target, compare, output);
    return writeReport(*report, **reference, **target, compare, output);
}

int tellWhy(const Error& error, PairWatch& pair, const CompareArguments& compare, Output& output)
{
    const auto reference = pair.snapshot(Which::Reference);
    const auto target = pair.snapshot(Which::Target);
    if (!reference || !target || *reference == nullptr || *target == nullptr)
        return tell(error);
    return tellAbsence(error, **reference, **target, compare, output);
}

} // namespace

int compareLive(CompareArguments& compare, const LiveArguments& live, Output& output)
{
    base::keepFreedMemory();
    auto sides = sidesOf(compare, live);
    if (!sides)
        return tell(sides.error());
    compare.comparison.grid =
        formatOf(compare) == report::Format::Html; // the only format that draws it
    auto pair = std::make_unique<PairWatch>(std::move(*sides), compare, live);
    Result<void> followed;
    {
        WorkWatch watch("comparing", compare.quiet ? ProgressLine::Quiet : ProgressLine::Shown,
                        "rows");
        followed = pair->follow(watch);
        pair->end();
    }
    int status = followed ? writeFindings(*pair, compare, output)
                          : tellWhy(followed.error(), *pair, compare, output);
    const live::SideStatus reference = pair->status(Which::Reference);
    const live::SideStatus target = pair->status(Which::Target);
    pair.reset(); // commits what a run that ended early still holds
    for (const auto& [saved, side] :
         {std::pair{live.saveReference, reference}, std::pair{live.saveTarget, target}})
        if (const int settled = settleSaved(saved, side, compare.quiet); settled != exitEqual)
            status = settled;
    return status;
}

} // namespace moire::app
