// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"
#include "core/store/mapped_run.h"
#include "tests/bench/diff/filled_capture.h"
#include "tests/bench/figure.h"
#include "tests/bench/numeric/bench_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

/// How the cost of a whole comparison (aligned, compared, reported; one thread, seconds of
/// processor) grows with the rows and with the taps: cost a row, or a tap, against that of the
/// smallest.
namespace {

using namespace moire;

constexpr bench::FilledShape smallest{512, 16, 1024};
constexpr double mostGrowth = 1.15;

void require(const Result<void>& result)
{
    if (result)
        return;
    std::fprintf(stderr, "bench_growth: %s\n", result.error().text().c_str());
    std::exit(2);
}

double secondsToCompare(const std::filesystem::path& folder, const bench::FilledShape& shape)
{
    constexpr int repeats = 9;
    const auto ours = folder / "reference.moire";
    const auto theirs = folder / "target.moire";
    constexpr float noise = 0.01F;
    require(bench::writeFilledCapture(ours, shape, 0));
    require(bench::writeFilledCapture(theirs, shape, noise));
    double best = 1e9;
    for (int i = 0; i < repeats; ++i) {
        const auto reference = store::MappedRun::open(ours);
        const auto target = store::MappedRun::open(theirs);
        if (!reference || !target)
            std::exit(2);
        base::Progress progress;
        best = std::min(best, bench::processorSecondsOf([&] {
                            const auto report =
                                diff::compare(*reference, *target, {}, {}, 1, {}, progress);
                            if (!report || report->exit != 1)
                                std::exit(2);
                        }));
    }
    return best;
}

} // namespace

int main()
{
    const bench::BenchFolder folder;
    const double first = secondsToCompare(folder.path(), smallest);
    for (const std::uint32_t times : {4U, 16U}) {
        bench::FilledShape rows = smallest;
        rows.rows *= times;
        bench::FilledShape taps = smallest;
        taps.taps *= times;
        for (const auto& [shape, what] : {std::pair(rows, "rows"), std::pair(taps, "taps")}) {
            const double seconds = secondsToCompare(folder.path(), shape);
            bench::printFigure("comparison of " + std::to_string(times) + " times as many " + what
                                   + ", cost of each",
                               "ms", 1e3 * seconds / times, 1e3 * first, seconds / times / first,
                               mostGrowth, bench::Sense::Max);
        }
    }
    return 0;
}
