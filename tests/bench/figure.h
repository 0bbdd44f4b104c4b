// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace moire::bench {

/// Seconds that `work()` takes.
template <class Work>
double secondsOf(Work&& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of processor that the calling thread spends in `work()`: on a busy machine the fairer
/// measure of a loop of one thread.
template <class Work>
double processorSecondsOf(Work&& work)
{
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const double begin = now();
    work();
    return now() - begin;
}

enum class Sense
{
    Min,
    Max
}; ///< the ratio should be at least, or at most, the goal

/// Prints one figure as a JSON object on a line of its own; moire.sh collects them. `ratio` is what
/// is held against `goal`. Names and units hold no quotes.
inline void printFigure(const std::string& name, const std::string& unit, double ours, double other,
                        double ratio, double goal, Sense sense)
{
    const bool met = sense == Sense::Min ? ratio >= goal : ratio <= goal;
    std::printf(
        "{\"name\": \"%s\", \"unit\": \"%s\", \"ours\": %.6g, \"other\": %.6g, \"ratio\": %.6g, "
        "\"goal\": %.6g, \"sense\": \"%s\", \"met\": %s}\n",
        name.c_str(), unit.c_str(), ours, other, ratio, goal, sense == Sense::Min ? "min" : "max",
        met ? "true" : "false");
    std::fflush(stdout);
}

/// A figure with an absolute goal: `ours` itself is held against it, there is no other.
inline void printAbsoluteFigure(const std::string& name, const std::string& unit, double ours,
                                double goal, Sense sense)
{
    const bool met = sense == Sense::Min ? ours >= goal : ours <= goal;
    std::printf(
        "{\"name\": \"%s\", \"unit\": \"%s\", \"ours\": %.6g, \"other\": null, \"ratio\": %.6g, "
        "\"goal\": %.6g, \"sense\": \"%s\", \"met\": %s}\n",
        name.c_str(), unit.c_str(), ours, ours, goal, sense == Sense::Min ? "min" : "max",
        met ? "true" : "false");
    std::fflush(stdout);
}

} // namespace moire::bench
