// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"

#include "core/base/text.h"
#include "core/diff/comparison.h"
#include "core/diff/same_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace moire::diff {

NoiseFloor NoiseFloor::of(const Report& repeat)
{
    NoiseFloor floor;
    floor.m_measures = repeat.measures;
    floor.m_source = repeat.target.file;
    floor.m_bitwiseEqual = !repeat.first.bitwise;
    floor.m_environmentDifferences = repeat.environmentDifferences;
    if (repeat.sites.size() != repeat.rows.size() * repeat.tapPairs.size())
        return floor; // made without its grid: nothing is known by position
    for (std::size_t tap = 0; tap < repeat.tapPairs.size(); ++tap) {
        std::map<std::uint32_t, double> largest; // by position
        for (std::size_t row = 0; row < repeat.rows.size(); ++row) {
            const Site& site = repeat.site(row, tap);
            const double here = site.relativeL2();
            // Where nothing is finite, or all of the reference is zero, there is no relative error.
            if (!site.valuesCompared || site.finite == 0 || !std::isfinite(here))
                continue;
            double& known = largest.try_emplace(repeat.rows[row].position, 0.0).first->second;
            known = std::max(known, here);
        }
        if (largest.empty())
            continue;
        Curve& curve = floor.m_curves[repeat.taps[tap].name];
        curve.last = std::max(curve.last, largest.rbegin()->first);
        for (const auto& [position, value] : largest)
            if (curve.steps.empty() || value > curve.steps.back().relativeL2)
                curve.steps.push_back({position, value});
    }
    return floor;
}

std::optional<double> NoiseFloor::relativeL2(std::string_view tap, std::uint32_t position) const
{
    const auto found = m_curves.find(tap);
    if (found == m_curves.end() || position > found->second.last)
        return std::nullopt;
    const std::vector<Step>& steps = found->second.steps;
    const auto after =
        std::partition_point(steps.begin(), steps.end(),
                             [position](const Step& step) { return step.position <= position; });
    return after == steps.begin() ? std::nullopt : std::optional((after - 1)->relativeL2);
}

const Measure* NoiseFloor::findMeasure(std::string_view id) const
{
    const auto at = std::find_if(m_measures.begin(), m_measures.end(),
                                 [id](const Measure& measure) { return measure.id == id; });
    return at == m_measures.end() ? nullptr : &*at;
}

namespace {

Error notARepeat(std::string sentence, std::string place)
{
    return {Errc::Invalid, std::move(sentence), std::move(place),
            "Capture the reference's configuration a second time"};
}

bool sameFile(const std::string& a, const std::string& b)
{
    std::error_code ignored; // a live run has no file
    return std::filesystem::equivalent(a, b, ignored);
}

Result<void> checkRepeat(const trace::Run& reference, const trace::Run& target,
                         const trace::Run& repeat)
{
    if (sameFile(repeat.source(), reference.source()))
        return notARepeat("the repeat is the reference itself, so its noise floor is nothing",
                          repeat.source());
    if (sameFile(repeat.source(), target.source()))
        return notARepeat("the repeat is the target itself, which would be its own noise floor",
                          repeat.source());
    for (const auto& [run, name] :
         {std::pair(&reference, "reference"), std::pair(&target, "target")})
        if (holdSameRun(repeat, *run))
            return notARepeat(
                std::string("the repeat is a copy of the ") + name
                    + ": both hold the run that started at "
                    + base::visibleText(repeat.header().environment.text(trace::env::startTime)),
                repeat.source());
    for (const std::string_view key : {trace::env::architecture, trace::env::weightDigest}) {
        const std::string ours = reference.header().environment.text(key);
        const std::string theirs = repeat.header().environment.text(key);
        if (!ours.empty() && !theirs.empty() && ours != theirs)
            return notARepeat("the repeat is of another model (" + std::string(key) + ": " + ours
                                  + " in the reference, " + theirs + " in the repeat)",
                              repeat.source());
    }
    return {};
}

} // namespace

Result<std::shared_ptr<const NoiseFloor>>
measureFloor(const trace::RunPointer& reference, const trace::Run& target,
             const trace::RunPointer& repeat, const AlignmentOptions& alignment, unsigned threads,
             std::stop_token stop, base::Progress& progress)
{
    if (auto checked = checkRepeat(*reference, target, *repeat); !checked)
        return checked.error();
    AlignmentOptions options = alignment;
    options.mapping = nullptr; // between the reference's names and the target's
    options.points.clear();
    ComparisonOptions comparison;
    comparison.resamples = 0;
    const auto report =
        compare(reference, repeat, options, comparison, threads, std::move(stop), progress);
    if (report)
        return std::make_shared<const NoiseFloor>(NoiseFloor::of(*report));
    if (report.error().code == Errc::Incomparable)
        return notARepeat("the repeat is none of the reference: " + report.error().sentence,
                          report.error().place);
    return report.error();
}

} // namespace moire::diff
