// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/chosen_tokens.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/noise_floor.h"
#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/paired_test.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/trend.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace moire::diff {

namespace {

constexpr const char* noRepeat = "no repeat of the reference was given (--repeat)";
constexpr const char* needsTargets = "needs two targets against one reference: moire-diff study";

/// A9: the repeat's own A6.
Measure repeatEquality(const FoldView& view)
{
    Measure equal = named("A9", noRepeat);
    if (view.options.floor == nullptr)
        return equal;
    equal.whyNull = "the repeat has no digest to compare";
    if (const Measure* repeat = view.options.floor->findMeasure("A6");
        repeat != nullptr && repeat->value) {
        setValue(equal, *repeat->value);
        equal.n = repeat->n;
        equal.whyNoInterval = "the repeat is one run";
        equal.parameters["bitwise_equal"] = view.options.floor->bitwiseEqual() ? 1 : 0;
    }
    return equal;
}

Measure resampling(const FoldView& view)
{
    Measure measure = named("L1", "no resamples were asked for");
    if (view.options.resamples == 0)
        return measure;
    measure.n = view.alignment.samples.size();
    setValue(measure, view.options.resamples);
    measure.whyNoInterval = "a setting";
    measure.parameters["seed"] = static_cast<double>(statistics::usualSeed);
    measure.parameters["confidence_percent"] = percent(statistics::usualConfidence, 1);
    return measure;
}

/// What measures how far the runs are apart, in the units of the ratio to the noise: an agreement
/// counts by what it lacks to 100 %.
std::optional<double> distanceOf(const Measure* measure)
{
    if (measure == nullptr || !measure->value)
        return std::nullopt;
    const bool agreement = measure->form == RatioForm::Percent;
    return agreement ? percent(1, 1) - *measure->value : *measure->value;
}

/// Sums: numerator and denominator here, then of the repeat; ln of the quotient of the quotients.
double logRatio(std::span<const double> s)
{
    return std::log(s[0] / s[1]) - std::log(s[2] / s[3]);
}

/// Shares of both comparisons as columns, when both are over the same samples and rows.
std::shared_ptr<const SampleSums> pairedSums(const Measure& here, const Measure& repeat)
{
    const auto sameRows = [](const SampleShare& a, const SampleShare& b) {
        return a.denominator == b.denominator;
    };
    if (here.bySample.empty()
        || !std::equal(here.bySample.begin(), here.bySample.end(), repeat.bySample.begin(),
                       repeat.bySample.end(), sameRows))
        return nullptr;
    SampleSums sums{std::vector<std::vector<double>>(4), logRatio};
    for (std::size_t s = 0; s < here.bySample.size(); ++s) {
        sums.columns[0].push_back(here.bySample[s].numerator);
        sums.columns[1].push_back(here.bySample[s].denominator);
        sums.columns[2].push_back(repeat.bySample[s].numerator);
        sums.columns[3].push_back(repeat.bySample[s].denominator);
    }
    return std::make_shared<const SampleSums>(std::move(sums));
}

/// L3: ln of C1 over the repeat's C1; its interval above 0 means beyond the noise.
Measure noiseRatio(const FoldView& view, const Measures& made)
{
    Measure ratio = named("L3", noRepeat);
    if (view.options.floor == nullptr)
        return ratio;
    const auto find = [&](std::string_view id) -> const Measure* {
        const auto at =
            std::find_if(made.begin(), made.end(), [&](const Measure& m) { return m.id == id; });
        return at == made.end() ? nullptr : &*at;
    };
    ratio.whyNull = "forward KL is not known, or the repeats do not differ";
    for (const char* id : {"B1", "B4", "C1", "C4", "E1", "E3", "H1"}) {
        const auto here = distanceOf(find(id));
        const auto noise = distanceOf(view.options.floor->findMeasure(id));
        if (here && noise && *noise > 0)
            ratio.parameters[id] = *here / *noise;
    }
    const auto found = ratio.parameters.find("C1");
    if (found == ratio.parameters.end() || !(found->second > 0))
        return ratio;
    setValue(ratio, std::log(found->second));
    ratio.n = find("C1")->n;
    ratio.sums = pairedSums(*find("C1"), *view.options.floor->findMeasure("C1"));
    if (ratio.sums == nullptr)
        ratio.whyNoInterval = "the repeat was not compared over the same rows";
    return ratio;
}

/// Positions fall into groups of 0, 1, 2–3, 4–7, …: later groups are as wide as all before.
std::size_t positionGroup(std::uint32_t position)
{
    return static_cast<std::size_t>(std::bit_width(position));
}

std::string nameOfGroup(std::size_t group)
{
    const std::uint64_t first = group == 0 ? 0 : std::uint64_t{1} << (group - 1);
    const std::uint64_t last = group == 0 ? 0 : (std::uint64_t{1} << group) - 1;
    return first == last ? std::to_string(first)
                         : std::to_string(first) + "-" + std::to_string(last);
}

/// L4: whether the runs give the tokens the same mean log-probability.
Measure permutation(const FoldView& view)
{
    constexpr std::size_t groupCount = 33; // of 32-bit positions
    Measure test = named("L4", whyNoChosenTokens);
    const ChosenTokens tokens = chosenTokens(view);
    if (view.options.resamples == 0) {
        test.whyNull = "no resamples were asked for";
        return test;
    }
    using Shares = std::vector<statistics::Share>;
    std::array<Shares, 2> all;
    std::array<std::array<Shares, 2>, groupCount> groups;
    for (const ChosenSequence& sequence : tokens.sequences) {
        for (Shares& side : all)
            side.emplace_back();
        std::size_t last = groupCount;
        for (const ChosenToken& token : sequence.tokens) {
            const std::size_t group = positionGroup(view.alignment.rows[token.row].position);
            for (std::size_t side = 0; side < 2; ++side) {
                if (group != last)
                    groups[group][side].emplace_back();
                for (statistics::Share* share : {&all[side].back(), &groups[group][side].back()}) {
                    share->numerator += side == 0 ? token.reference : token.target;
                    ++share->denominator;
                }
            }
            last = group;
        }
    }
    if (all[0].empty())
        return test;
    const statistics::BootstrapOptions options{view.options.resamples, statistics::usualSeed,
                                               view.options.threads};
    setValue(test, statistics::labelSwapTest(all[0], all[1], options));
    test.n = all[0].size();
    test.whyNoInterval = "a p-value";
    std::vector<std::size_t> used;
    std::vector<double> p;
    for (std::size_t group = 0; group < groups.size(); ++group)
        if (!groups[group][0].empty()) {
            used.push_back(group);
            p.push_back(statistics::labelSwapTest(groups[group][0], groups[group][1], options));
        }
    const std::vector<double> adjusted = statistics::holm(p);
    for (std::size_t i = 0; i < used.size(); ++i)
        test.byGroup[nameOfGroup(used[i])] = adjusted[i];
    return test;
}

/// L5: the rate that differing best tokens may still have where none was seen.
Measure unseen(const FoldView& view)
{
    Measure measure = named("L5", "no row was compared");
    std::uint64_t rows = 0;
    view.forEachRow([&](std::size_t, const RowRecord&) { ++rows; });
    if (rows > 0) {
        setValue(measure, percent(statistics::ruleOfThree(static_cast<double>(rows)), 1));
        measure.n = rows;
        measure.whyNoInterval = "itself a bound";
        measure.parameters["samples"] =
            percent(statistics::ruleOfThree(static_cast<double>(view.alignment.samples.size())), 1);
    }
    return measure;
}

/// L7: where along the positions forward KL changes most.
Measure change(const Measures& made)
{
    constexpr unsigned shuffles = 999;
    Measure measure = named("L7", "forward KL is not known at two positions, or does not vary");
    const auto kl =
        std::find_if(made.begin(), made.end(), [](const Measure& m) { return m.id == "C1"; });
    std::vector<double> values;
    std::vector<std::size_t> positions;
    if (kl != made.end())
        for (std::size_t i = 0; i < kl->byPosition.size(); ++i)
            if (kl->byPosition[i]) {
                values.push_back(*kl->byPosition[i]);
                positions.push_back(i);
            }
    if (const auto found = statistics::changePoint(values, shuffles)) {
        setValue(measure,
                 static_cast<double>(positions[std::min(found->before, positions.size() - 1)]));
        measure.n = values.size();
        measure.whyNoInterval = "a place; its p says how sure";
        measure.parameters["p"] = found->p;
        measure.parameters["statistic"] = found->statistic;
    }
    return measure;
}

} // namespace

void addStatisticsMeasures(const FoldView& view, Measures& measures)
{
    measures.push_back(repeatEquality(view));
    measures.push_back(resampling(view));
    measures.push_back(named("L2", needsTargets));
    measures.push_back(noiseRatio(view, measures));
    measures.push_back(permutation(view));
    measures.push_back(unseen(view));
    measures.push_back(
        named("L6", "needs the captures of several configurations: moire-diff study"));
    measures.push_back(change(measures));
}

} // namespace moire::diff
