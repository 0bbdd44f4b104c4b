// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/token_alignment.h"
#include "tests/bench/figure.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

// Aligns two streams of 100,000 tokens of which half differs: seconds, and the most memory that the
// process ever held.

namespace {

constexpr std::size_t length = 100'000;
constexpr double secondsGoal = 2;
constexpr double megabytesGoal = 200;

/// Ids as text has them: the few first ones stand for much of it (log-uniform over 50,000), or all
/// alike.
std::int32_t drawn(std::mt19937& engine, bool likeText)
{
    constexpr std::uint32_t vocabulary = 50'000;
    if (!likeText)
        return static_cast<std::int32_t>(engine() % vocabulary);
    const double u = static_cast<double>(engine()) / static_cast<double>(std::mt19937::max());
    return static_cast<std::int32_t>(std::exp(u * std::log(double{vocabulary})));
}

void measure(bool likeText)
{
    std::mt19937 engine(1);
    std::vector<std::int32_t> reference(length);
    for (std::int32_t& id : reference)
        id = drawn(engine, likeText);
    std::vector<std::int32_t> target = reference;
    target[0] = -1; // the split comes first: nothing is saved by an equal beginning
    for (std::int32_t& id : target)
        if (engine() % 2 == 0)
            id = drawn(engine, likeText);
    const double seconds =
        moire::bench::secondsOf([&] { moire::diff::alignTokens(reference, target); });
    moire::bench::printAbsoluteFigure(
        std::string("alignment of 100,000 tokens of which half differs, ids ")
            + (likeText ? "as in text" : "alike"),
        "s", seconds, secondsGoal, moire::bench::Sense::Max);
}

} // namespace

int main()
{
    measure(true);
    measure(false);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    constexpr double kibibytesInMegabyte = 1e6 / 1024;
    moire::bench::printAbsoluteFigure("the same, memory", "MB",
                                      static_cast<double>(usage.ru_maxrss) / kibibytesInMegabyte,
                                      megabytesGoal, moire::bench::Sense::Max);
    return 0;
}
