// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/report_parts.h"

#include "core/diff/first_divergence.h"
#include "core/diff/intervals.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/metric_catalogue.h"
#include "core/diff/run_matrix.h"

#include <algorithm>
#include <set>
#include <utility>

namespace moire::diff {

RunSummary summaryOf(const trace::Run& run)
{
    return {run.source(),   run.header().environment, run.samples().size(),
            run.rowCount(), run.header().taps.size(), run.complete()};
}

namespace {

/// A run that scored given tokens chose none: its seed and its sampling made nothing.
bool onlyScored(const trace::Environment& environment)
{
    const std::string replay = environment.text(trace::env::replay);
    return (replay == "forced" || replay == "prefix")
           && environment.find(trace::env::prefixTokens) == nullptr;
}

} // namespace

std::vector<EnvironmentDifference> environmentDifferences(const trace::Environment& reference,
                                                          const trace::Environment& target)
{
    std::vector<EnvironmentDifference> differences;
    const bool scored = onlyScored(reference) || onlyScored(target);
    const auto compare = [&](const std::string& key) {
        const bool ofChoice = key == trace::env::seed || key == trace::env::sampling;
        if (trace::isIncidental(key) || (scored && ofChoice))
            return;
        const auto* ours = reference.find(key);
        const auto* theirs = target.find(key);
        if ((ours == nullptr) == (theirs == nullptr) && (ours == nullptr || *ours == *theirs))
            return;
        differences.push_back({key, reference.text(key), target.text(key)});
    };
    for (const auto& [key, value] : reference.fields())
        compare(key);
    for (const auto& [key, value] : target.fields())
        if (reference.find(key) == nullptr)
            compare(key);
    return differences;
}

namespace {

/// What one tap or one sample gets is not resampled.
void leaveIntervalsOut(Measures& measures)
{
    for (Measure& measure : measures) {
        measure.bySample.clear();
        measure.bySample.shrink_to_fit();
        measure.sums.reset();
    }
    explainMissingIntervals("intervals are made for the whole report's measures", measures);
}

std::vector<TapReport> tapReports(const FoldView& view)
{
    std::vector<TapReport> reports;
    reports.reserve(view.alignment.taps.size());
    for (std::size_t i = 0; i < view.alignment.taps.size(); ++i) {
        const trace::Tap& tap = view.tap(i);
        TapReport report{tap.name, tap.layer, tap.kind, 0, 0, {}};
        view.forEachRow([&](std::size_t, const RowRecord& record) {
            ++report.rows;
            report.elements += record.sites[i].elements;
        });
        addElementMeasures(view, i, Detail::Short, report.measures);
        sortMeasures(report.measures);
        leaveIntervalsOut(report.measures);
        reports.push_back(std::move(report));
    }
    return reports;
}

SampleReport sampleReport(const FoldView& view, const Alignment::SamplePair& pair)
{
    const trace::Sample& sample = view.reference.samples()[indexOf(pair.reference)];
    SampleReport report;
    report.id = sample.id;
    report.repeat = sample.repeat;
    report.reference = pair.reference;
    report.target = pair.target;
    report.category = sample.category;
    report.split = pair.split;
    report.notComparable = pair.notComparable;
    report.blocks = pair.blocks;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        ++report.rowsCompared;
        const std::uint32_t position = view.alignment.rows[row].position;
        const bool different =
            std::any_of(record.sites.begin(), record.sites.end(),
                        [](const Site& site) { return site.state == Site::State::Different; });
        if (!report.firstBitwise && (different || record.logits.tablesDiffer))
            report.firstBitwise = position;
        if (!report.firstArgmax && record.logits.row.referenceTop != record.logits.row.targetTop)
            report.firstArgmax = position;
    });
    if (view.options.grid || !view.options.firstOnly)
        addSampleMeasures(view, report.measures);
    leaveIntervalsOut(report.measures);
    return report;
}

std::vector<SampleReport> sampleReports(const FoldView& view)
{
    std::vector<SampleReport> reports;
    FoldView part = view;
    std::size_t row = view.rowBegin;
    for (std::size_t i = 0; i < view.alignment.samples.size(); ++i) {
        const Alignment::SamplePair& pair = view.alignment.samples[i];
        part.rowBegin = row;
        while (row < view.rowEnd && view.alignment.rows[row].sample == pair.reference)
            ++row;
        part.rowEnd = row;
        reports.push_back(sampleReport(part, pair));
    }
    return reports;
}

} // namespace

void sortMeasures(Measures& measures)
{
    const auto place = [](const Measure& measure) {
        return &metricOf(measure.id) - metricCatalogue().data();
    };
    std::stable_sort(measures.begin(), measures.end(),
                     [&](const Measure& a, const Measure& b) { return place(a) < place(b); });
}

void addSampleMeasures(const FoldView& view, Measures& measures)
{
    Measures all;
    if (view.head)
        addElementMeasures(view, *view.head, Detail::Short, all);
    addDistributionMeasures(view, all);
    addTopKMeasures(view, all);
    addTableBounds(view, all);
    if (!view.alignment.routers.empty())
        addRoutingMeasures(view, all);
    for (Measure& measure : all) {
        constexpr std::array wanted{"A1", "B2", "B4", "C1", "E1", "E3", "H1"};
        if (std::find(wanted.begin(), wanted.end(), measure.id) == wanted.end())
            continue;
        measure.byPosition.clear(); // the grid has it
        measure.percentiles.clear();
        measures.push_back(std::move(measure));
    }
    sortMeasures(measures);
}

namespace {

/// Rows that were passed over tell no measure: names and reasons only.
void leaveMeasuresOut(const FoldView& view, Report& report)
{
    for (const Metric& metric : metricCatalogue())
        report.measures.push_back(named(metric.id, std::string(onlyFirstAsked)));
    for (std::size_t i = 0; i < view.alignment.taps.size(); ++i) {
        const trace::Tap& tap = view.tap(i);
        report.taps.push_back({tap.name,
                               tap.layer,
                               tap.kind,
                               report.alignment.rows,
                               report.alignment.rows * view.alignment.taps[i].width,
                               {}});
    }
    report.samples = sampleReports(view);
}

/// Takes their values from the measures that a matrix does not show.
void keepMatrixMeasures(Report& report)
{
    std::set<const Measure*> shown;
    for (const MatrixMeasure& measure : matrixMeasures())
        for (const std::string_view id : {measure.id, measure.swapped})
            shown.insert(report.findMeasure(id));
    for (Measure& measure : report.measures)
        if (!shown.contains(&measure))
            measure = named(measure.id, std::string(onlyMatrixAsked));
}

} // namespace

Report buildReport(const FoldView& view)
{
    Report report;
    report.reference = summaryOf(view.reference);
    report.target = summaryOf(view.target);
    report.environmentDifferences = environmentDifferences(view.reference.header().environment,
                                                           view.target.header().environment);
    report.alignment = view.alignment.summary;
    report.alignment.rows = static_cast<std::uint64_t>(
        std::count_if(view.records.begin(), view.records.end(),
                      [](const RowRecord* record) { return record != nullptr; }));
    report.first = findFirst(view);
    if (view.options.firstOnly && !view.options.grid) {
        leaveMeasuresOut(view, report);
        addVerdict(view, report);
        return report;
    }
    addLogitsMeasures(view, report.measures);
    addTopKMeasures(view, report.measures);
    addTableBounds(view, report.measures);
    addRankingMeasures(view, report.measures);
    addMarginMeasures(view, report.measures);
    addTokenMeasures(view, report.measures);
    addRoutingMeasures(view, report.measures);
    addLayerMeasures(view, report.measures);
    addStateMeasures(view, report.measures);
    addTaskMeasures(view, report.measures);
    addCostMeasures(view, report.measures);
    addStatisticsMeasures(view, report.measures);
    sortMeasures(report.measures);
    if (!view.options.everyMeasure)
        keepMatrixMeasures(report);
    addIntervals(view.alignment.samples.size(), view.options, report.measures);
    report.taps = tapReports(view);
    report.samples = sampleReports(view);
    addVerdict(view, report);
    return report;
}

} // namespace moire::diff
