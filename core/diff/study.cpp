// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/study.h"

#include "core/diff/change_kind.h"
#include "core/diff/measure_builder.h"
#include "core/diff/metric_catalogue.h"
#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/proportion.h"
#include "core/diff/statistics/quantile.h"
#include "core/diff/study_verdicts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace moire::diff {

namespace {

constexpr std::array<std::string_view, 5> reduced{"B1", "C1", "C7", "E1", "H1"};

/// A sample by id and by how often that id came before.
using SampleKey = std::pair<std::string, std::size_t>;

std::map<SampleKey, std::size_t> samplePlaces(const Report& report)
{
    std::map<std::string, std::size_t> seen;
    std::map<SampleKey, std::size_t> places;
    for (std::size_t i = 0; i < report.samples.size(); ++i)
        places.emplace(SampleKey(report.samples[i].id, seen[report.samples[i].id]++), i);
    return places;
}

/// For every shared sample its place in every report, in the first report's order.
std::vector<std::vector<std::size_t>> sharedSamples(std::span<const StudyTarget> targets)
{
    std::vector<std::map<SampleKey, std::size_t>> places;
    for (const StudyTarget& target : targets)
        places.push_back(samplePlaces(target.report));
    std::vector<std::pair<std::size_t, SampleKey>> order;
    for (const auto& [key, place] : places.front())
        order.emplace_back(place, key);
    std::sort(order.begin(), order.end());
    std::vector<std::vector<std::size_t>> shared;
    for (const auto& [place, key] : order) {
        std::vector<std::size_t> row;
        for (const auto& of : places)
            if (const auto at = of.find(key); at != of.end())
                row.push_back(at->second);
        if (row.size() == targets.size())
            shared.push_back(std::move(row));
    }
    return shared;
}

/// One measure's sums in all targets, as places of columns; none where a target has no such sums.
struct Sums
{
    RatioForm form = RatioForm::None;                   ///< of two columns, or
    double (*value)(std::span<const double>) = nullptr; ///< a function of all
    bool ofSamples = false; ///< a share of samples, with Wilson's interval
    std::vector<std::optional<std::vector<std::size_t>>> targets;
};

double finishedBy(const Sums& sums, std::size_t target, auto sum)
{
    const std::vector<std::size_t>& at = *sums.targets[target];
    if (sums.value == nullptr)
        return finished(sums.form, sum(at[0]), sum(at[1]));
    std::vector<double> numbers;
    numbers.reserve(at.size());
    for (const std::size_t column : at)
        numbers.push_back(sum(column));
    return sums.value(numbers);
}

/// What a measure counts as error: a share in percent by what it lacks to 100.
double errorOf(const Sums& sums, std::size_t target, auto sum)
{
    const double value = finishedBy(sums, target, sum);
    return sums.form == RatioForm::Percent ? percent(1, 1) - value : value;
}

class Study
{
public:
    Study(std::span<const StudyTarget> targets, const StudyOptions& options)
        : m_targets(targets)
        , m_options(options)
        , m_shared(sharedSamples(targets))
    {}
    std::size_t samples() const { return m_shared.size(); }

    StudyReport run()
    {
        StudyReport report;
        report.samples = m_shared.size();
        for (const StudyTarget& target : m_targets)
            describe(target, report);
        collect(report);
        const statistics::ClusterResamples resamples(m_columns, m_shared.size(),
                                                     {m_shared.size() > 1 ? m_options.resamples : 0,
                                                      statistics::usualSeed, m_options.threads});
        for (std::size_t i = 0; i < report.rows.size(); ++i)
            fill(report.rows[i], m_ratios[i], report.cost, resamples);
        addDisagreement(m_options.baseline, report);
        addParetoFront(report);
        addSummaries(report);
        return report;
    }

private:
    static void describe(const StudyTarget& target, StudyReport& report)
    {
        const std::uint64_t rows = target.report.alignment.rows;
        const Measure* cost = target.report.findMeasure("K1");
        report.targets.push_back(target.report.target.file);
        report.samplesOf.push_back(target.report.samples.size());
        report.rowsOf.push_back(target.rows == 0 ? rows : target.rows);
        report.rowsUsed.push_back(rows);
        report.cost.push_back(cost != nullptr ? cost->value : std::nullopt);
    }

    void collect(StudyReport& report)
    {
        for (const Measure& measure : m_targets.front().report.measures) {
            Sums sums;
            bool any = false;
            for (const StudyTarget& target : m_targets) {
                const Measure* own = target.report.findMeasure(measure.id);
                const bool usable =
                    own != nullptr && own->value
                    && (own->sums != nullptr
                        || (own->form != RatioForm::None
                            && own->bySample.size() == target.report.samples.size()));
                sums.targets.push_back(usable ? std::optional(columnsOf(*own, sums.targets.size()))
                                              : std::nullopt);
                if (!usable)
                    continue;
                any = true;
                sums.form = own->form;
                sums.value = own->sums == nullptr ? nullptr : own->sums->value;
                sums.ofSamples = own->interval && own->interval->method == wilsonMethod;
            }
            if (!any)
                continue;
            StudyRow row;
            row.id = measure.id;
            row.name = measure.name;
            row.unit = measure.unit;
            row.changeUnit = changeUnitOf(row.id, row.unit);
            report.rows.push_back(std::move(row));
            m_ratios.push_back(std::move(sums));
        }
    }

    std::vector<std::size_t> columnsOf(const Measure& measure, std::size_t target)
    {
        std::vector<std::size_t> places;
        const auto add = [&](auto of) {
            double sum = 0;
            std::vector<double> column;
            for (const auto& shared : m_shared) {
                column.push_back(of(shared[target]));
                sum += column.back();
            }
            places.push_back(m_columns.size());
            m_sums.push_back(sum);
            m_columns.push_back(std::move(column));
        };
        if (measure.sums != nullptr) {
            for (const std::vector<double>& column : measure.sums->columns)
                add([&](std::size_t sample) { return column[sample]; });
            return places;
        }
        add([&](std::size_t sample) { return measure.bySample[sample].numerator; });
        add([&](std::size_t sample) { return measure.bySample[sample].denominator; });
        return places;
    }

    /// The quantity of the whole and its interval.
    template <class Quantity>
    Estimate estimate(const statistics::ClusterResamples& resamples, Quantity of) const
    {
        Estimate made;
        const double value = of([this](std::size_t column) { return m_sums[column]; });
        if (!std::isfinite(value)) {
            made.why = "what it is divided by is zero";
            return made;
        }
        made.value = value;
        if (const auto bounds = statistics::middle(resamples.values(of)))
            made.interval = Interval{bounds->low, bounds->high,
                                     "paired bootstrap over samples, "
                                         + std::to_string(resamples.size()) + " resamples"};
        return made;
    }

    void fill(StudyRow& row, const Sums& ratio, const std::vector<std::optional<double>>& cost,
              const statistics::ClusterResamples& resamples) const
    {
        const std::size_t base = m_options.baseline;
        const ChangeKind kind = changeKindOf(row.id, row.unit);
        const bool isReduced = std::find(reduced.begin(), reduced.end(), row.id) != reduced.end();
        const Estimate unknown{{}, {}, "not known for this target or for the baseline"};
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            const bool known = ratio.targets[t].has_value();
            const bool paired = known && ratio.targets[base].has_value();
            row.values.push_back(known ? valueOf(ratio, t, resamples) : unknown);
            row.changes.push_back(
                paired ? estimate(resamples, [&](auto s) { return change(ratio, kind, t, s); })
                       : unknown);
            if (ratio.form == RatioForm::Percent)
                row.countChanges.push_back(
                    paired ? estimate(resamples,
                                      [&](auto s) {
                                          return s(ratio.targets[t]->front())
                                                 - s(ratio.targets[base]->front());
                                      })
                           : unknown);
            if (!isReduced)
                continue;
            row.reductions.push_back(
                paired ? estimate(resamples,
                                  [&](auto s) {
                                      return percent(errorOf(ratio, base, s) - errorOf(ratio, t, s),
                                                     errorOf(ratio, base, s));
                                  })
                       : unknown);
            row.retained.push_back(retained(ratio, t, resamples));
            const auto& reduction = row.reductions.back().value;
            row.gainPerCost.push_back(reduction && cost[t] && *cost[t] > 1
                                          ? std::optional(*reduction / (*cost[t] - 1))
                                          : std::nullopt);
        }
    }

    /// A target's own number, with the kind of interval that it has in a report.
    Estimate valueOf(const Sums& ratio, std::size_t target,
                     const statistics::ClusterResamples& resamples) const
    {
        Estimate made =
            estimate(resamples, [&](auto sum) { return finishedBy(ratio, target, sum); });
        if (made.value && ratio.ofSamples) {
            const std::vector<std::size_t>& at = *ratio.targets[target];
            const statistics::Bounds bounds = statistics::wilson(m_sums[at[0]], m_sums[at[1]]);
            made.interval = Interval{percent(bounds.low, 1), percent(bounds.high, 1),
                                     std::string(wilsonMethod)};
        }
        return made;
    }

    double change(const Sums& ratio, ChangeKind kind, std::size_t target, auto sum) const
    {
        const double before = finishedBy(ratio, m_options.baseline, sum);
        const double after = finishedBy(ratio, target, sum);
        return kind == ChangeKind::Percent ? percent(after - before, before) : after - before;
    }

    Estimate retained(const Sums& ratio, std::size_t target,
                      const statistics::ClusterResamples& resamples) const
    {
        const std::size_t base = m_options.baseline;
        if (!m_options.full)
            return {{}, {}, "no target was named as the full one"};
        if (!ratio.targets[target] || !ratio.targets[base] || !ratio.targets[*m_options.full])
            return {{}, {}, "not known for all three targets"};
        return estimate(resamples, [&](auto sum) {
            const double before = errorOf(ratio, base, sum);
            return percent(before - errorOf(ratio, target, sum),
                           before - errorOf(ratio, *m_options.full, sum));
        });
    }

    /// K4 in one number, L2, L6.
    void addSummaries(StudyReport& report) const
    {
        Measure disagreement = named("K4", "fewer than two targets besides the baseline's");
        std::uint64_t signs = 0;
        for (std::size_t i = 0; i < report.disagreement.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                signs += report.disagreement[i][j].signs;
                disagreement.n += report.disagreement[i][j].compared;
            }
        if (disagreement.n > 0)
            setValue(disagreement, static_cast<double>(signs));
        disagreement.whyNoInterval = "a count";
        Measure paired = named("L2", "fewer than two samples are shared");
        if (m_shared.size() > 1 && m_options.resamples > 0) {
            setValue(paired, m_options.resamples);
            paired.n = m_shared.size();
            paired.whyNoInterval = "a setting";
        }
        report.overAll.insert(report.overAll.end(), {disagreement, paired, variance(report)});
    }

    /// Places among the shared samples of those that have rows in every target.
    std::vector<std::size_t> samplesWithRows(const Sums& ratio) const
    {
        std::vector<std::size_t> used;
        for (std::size_t s = 0; s < m_shared.size(); ++s)
            if (std::all_of(ratio.targets.begin(), ratio.targets.end(),
                            [&](const auto& columns) { return m_columns[(*columns)[1]][s] > 0; }))
                used.push_back(s);
        return used;
    }

    /// L6: two-way analysis of variance of the samples' mean forward KL, sample × configuration.
    Measure variance(const StudyReport& report) const
    {
        Measure share = named("L6", "needs forward KL of two targets and two samples");
        const auto kl = std::find_if(report.rows.begin(), report.rows.end(),
                                     [](const StudyRow& row) { return row.id == "C1"; });
        if (kl == report.rows.end() || m_targets.size() < 2 || m_shared.size() < 2)
            return share;
        const Sums& ratio = m_ratios[static_cast<std::size_t>(kl - report.rows.begin())];
        if (!std::all_of(ratio.targets.begin(), ratio.targets.end(),
                         [](const auto& columns) { return columns.has_value(); }))
            return share;
        const std::vector<std::size_t> used = samplesWithRows(ratio);
        if (used.size() < 2)
            return share;
        const auto samples = static_cast<double>(used.size());
        const auto configurations = static_cast<double>(m_targets.size());
        std::vector<double> ofSample(used.size());
        std::vector<double> ofTarget(m_targets.size());
        const auto at = [&](std::size_t s, std::size_t t) {
            const std::vector<std::size_t>& columns = *ratio.targets[t];
            return m_columns[columns[0]][used[s]] / m_columns[columns[1]][used[s]];
        };
        for (std::size_t t = 0; t < m_targets.size(); ++t)
            for (std::size_t s = 0; s < used.size(); ++s) {
                ofSample[s] += at(s, t) / configurations;
                ofTarget[t] += at(s, t) / samples;
            }
        double mean = 0;
        for (const double value : ofTarget)
            mean += value / configurations;
        double between = 0;
        double residual = 0;
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            between += samples * (ofTarget[t] - mean) * (ofTarget[t] - mean);
            for (std::size_t s = 0; s < used.size(); ++s) {
                const double left = at(s, t) - ofSample[s] - ofTarget[t] + mean;
                residual += left * left;
            }
        }
        const double within = residual / ((samples - 1) * (configurations - 1));
        const double component = std::max(0.0, (between / (configurations - 1) - within) / samples);
        setValue(share, percent(component, component + within));
        share.n = used.size();
        share.whyNoInterval = "a component of variance";
        if (share.value) {
            share.parameters["between"] = component;
            share.parameters["within"] = within;
        }
        return share;
    }

    std::span<const StudyTarget> m_targets;
    StudyOptions m_options;
    std::vector<std::vector<std::size_t>> m_shared;
    std::vector<std::vector<double>> m_columns;
    std::vector<double> m_sums;
    std::vector<Sums> m_ratios;
};

} // namespace

std::span<const std::string_view> reducedMeasures()
{
    return reduced;
}

Result<StudyReport> study(const trace::Run& reference, std::span<const StudyTarget> targets,
                          const StudyOptions& options)
{
    if (targets.empty())
        return Error{Errc::Invalid, "a study needs at least one target", {}, {}};
    if (options.baseline >= targets.size() || options.full.value_or(0) >= targets.size())
        return Error{Errc::Invalid, "there is no such target in the study", {}, {}};
    for (const StudyTarget& target : targets)
        if (target.report.reference.file != reference.source())
            return Error{Errc::Invalid,
                         "a comparison was made against another reference",
                         target.report.reference.file,
                         {}};
    Study made(targets, options);
    if (made.samples() == 0)
        return Error{Errc::Incomparable, "no sample stands in all targets", {}, {}};
    StudyReport report = made.run();
    report.reference = reference.source();
    std::vector<const trace::Run*> runs{&reference};
    for (const StudyTarget& target : targets)
        runs.push_back(&target.run);
    const std::vector<Measure> over = measuresOverRuns(runs);
    report.overAll.insert(report.overAll.begin(), over.begin(), over.end());
    return report;
}

} // namespace moire::diff
