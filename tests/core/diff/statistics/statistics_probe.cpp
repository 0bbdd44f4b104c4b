// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Reads one request a line, prints one line of numbers for each, for statistics_test.py:
//   wilson EVENTS N | normal P | mcnemar B C | holm P… | bh P… | theilsen N X… Y…
//   line N X… Y… | km N TIME… EVENT… | hill SHARE X… | roc N SCORE… POSITIVE… CLUSTER…
// What has no value prints as nan.

#include "core/diff/statistics/agreement.h"
#include "core/diff/statistics/paired_test.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/survival.h"
#include "core/diff/statistics/tail_index.h"
#include "core/diff/statistics/trend.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace {

using namespace moire::diff::statistics;
using Numbers = std::vector<double>;

/// The n numbers from place `begin` on.
Numbers slice(const Numbers& in, std::size_t begin)
{
    const auto n = static_cast<std::ptrdiff_t>(in[0]);
    const auto at = in.begin() + static_cast<std::ptrdiff_t>(begin);
    return {at, at + n};
}

Numbers theilSenOf(const Numbers& in)
{
    const auto found = theilSen(slice(in, 1), slice(in, 1 + static_cast<std::size_t>(in[0])));
    return found ? Numbers{found->slope, found->bounds.low, found->bounds.high} : Numbers{};
}

Numbers lineOf(const Numbers& in)
{
    const auto found = lineThrough(slice(in, 1), slice(in, 1 + static_cast<std::size_t>(in[0])));
    return found ? Numbers{found->slope, found->intercept, found->correlation} : Numbers{};
}

Numbers survivalOf(const Numbers& in)
{
    std::vector<Duration> durations;
    const auto n = static_cast<std::size_t>(in[0]);
    for (std::size_t i = 0; i < n; ++i)
        durations.push_back({in[1 + i], in[1 + n + i] != 0});
    const SurvivalCurve curve = kaplanMeier(durations);
    const MedianBounds bounds = medianBounds(curve);
    Numbers out{curve.median().value_or(NAN), bounds.low.value_or(NAN), bounds.high.value_or(NAN)};
    for (const SurvivalStep& step : curve.steps)
        out.insert(out.end(), {step.time, step.survival, step.variance});
    return out;
}

Numbers hillOf(const Numbers& in)
{
    const auto found = hill({in.begin() + 1, in.end()}, in[0]);
    return found ? Numbers{found->alpha, found->bounds.low, found->bounds.high} : Numbers{};
}

Numbers rocOf(const Numbers& in)
{
    const auto n = static_cast<std::size_t>(in[0]);
    std::vector<Scored> cases;
    for (std::size_t i = 0; i < n; ++i)
        cases.push_back(
            {in[1 + i], in[1 + n + i] != 0, static_cast<std::uint32_t>(in[1 + 2 * n + i])});
    const auto curve = rocCurve(cases);
    if (!curve)
        return {};
    const Bounds bounds = curve->bounds.value_or(Bounds{NAN, NAN});
    return {curve->area, curve->averagePrecision, bounds.low, bounds.high};
}

const std::map<std::string, std::function<Numbers(const Numbers&)>> requests{
    {"wilson",
     [](const Numbers& in) {
         const Bounds bounds = wilson(in[0], in[1]);
         return Numbers{bounds.low, bounds.high};
     }},
    {"normal",
     [](const Numbers& in) {
         return Numbers{normalQuantile(in[0]), normalBelow(normalQuantile(in[0]))};
     }},
    {"mcnemar",
     [](const Numbers& in) {
         return Numbers{
             mcNemarExact(static_cast<std::uint64_t>(in[0]), static_cast<std::uint64_t>(in[1]))};
     }},
    {"holm", [](const Numbers& in) { return holm(in); }},
    {"bh", [](const Numbers& in) { return benjaminiHochberg(in); }},
    {"theilsen", theilSenOf},
    {"line", lineOf},
    {"km", survivalOf},
    {"hill", hillOf},
    {"roc", rocOf},
};

} // namespace

int main()
{
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream words(text);
        std::string name;
        words >> name;
        Numbers in;
        for (double x; words >> x;)
            in.push_back(x);
        const Numbers out = requests.at(name)(in);
        if (out.empty())
            std::printf("nan");
        for (const double x : out)
            std::printf("%.17g ", x);
        std::printf("\n");
    }
    return 0;
}
