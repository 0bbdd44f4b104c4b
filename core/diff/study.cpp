// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/study.h"

#include "core/diff/measure_builder.h"
#include "core/diff/metric_catalogue.h"
#include "core/diff/statistics/bootstrap.h"
#include "core/diff/statistics/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace moire::diff {

namespace {

constexpr std::array<std::string_view, 5> reduced{"B1", "C1", "C7", "E1", "H1"};
constexpr std::array<PaperName, 14> names{{{"equal_bits_pct", "A1"},
                                           {"raw_logit_mse", "B1"},
                                           {"prob_mse", "C7"},
                                           {"forward_kl", "C1"},
                                           {"top1", "E1"},
                                           {"ord5", "E2"},
                                           {"set5", "E3"},
                                           {"router_set_equal_pct", "H1"},
                                           {"router_positions_all_layers_equal_pct", "H2"},
                                           {"router_logit_mse", "H6"},
                                           {"rollout_equal_pct", "G1"},
                                           {"rollout_median_first_divergence", "G2"},
                                           {"accuracy", "J1"},
                                           {"answer_agreement", "J2"}}};

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

/// One measure's sums in all targets, as places of columns; none where a target has no such ratio.
struct Columns
{
    std::size_t numerator, denominator;
};
struct Ratio
{
    RatioForm form = RatioForm::None;
    std::vector<std::optional<Columns>> targets;
};

double finishedBy(const Ratio& ratio, std::size_t target, auto sum)
{
    const Columns& at = *ratio.targets[target];
    return finished(ratio.form, sum(at.numerator), sum(at.denominator));
}

/// What a measure counts as error: a share in percent by what it lacks to 100.
double errorOf(const Ratio& ratio, std::size_t target, auto sum)
{
    const double value = finishedBy(ratio, target, sum);
    return ratio.form == RatioForm::Percent ? percent(1, 1) - value : value;
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
        for (const StudyTarget& target : m_targets) {
            report.targets.push_back(target.report.target.file);
            const Measure* cost = target.report.findMeasure("K1");
            report.cost.push_back(cost != nullptr ? cost->value : std::nullopt);
        }
        collect(report);
        const statistics::ClusterResamples resamples(m_columns, m_shared.size(),
                                                     {m_shared.size() > 1 ? m_options.resamples : 0,
                                                      statistics::usualSeed, m_options.threads});
        for (std::size_t i = 0; i < report.rows.size(); ++i)
            fill(report.rows[i], m_ratios[i], report.cost, resamples);
        addDisagreement(report);
        addFront(report);
        addSummaries(report);
        return report;
    }

private:
    void collect(StudyReport& report)
    {
        for (const Measure& measure : m_targets.front().report.measures) {
            Ratio ratio;
            bool any = false;
            for (const StudyTarget& target : m_targets) {
                const auto& measures = target.report.measures;
                const auto at = std::find_if(measures.begin(), measures.end(),
                                             [&](const auto& m) { return m.id == measure.id; });
                const bool usable = at != measures.end()
                                    && at->bySample.size() == target.report.samples.size()
                                    && at->form != RatioForm::None;
                ratio.targets.push_back(usable ? std::optional(columnsOf(*at, ratio.targets.size()))
                                               : std::nullopt);
                if (usable)
                    ratio.form = at->form;
                any = any || usable;
            }
            if (!any)
                continue;
            report.rows.push_back({measure.id, measure.name, measure.unit, {}, {}, {}, {}, {}, {}});
            m_ratios.push_back(std::move(ratio));
        }
    }

    Columns columnsOf(const Measure& measure, std::size_t target)
    {
        std::vector<double> numerators;
        std::vector<double> denominators;
        for (const auto& places : m_shared) {
            numerators.push_back(measure.bySample[places[target]].numerator);
            denominators.push_back(measure.bySample[places[target]].denominator);
        }
        for (std::vector<double>* column : {&numerators, &denominators}) {
            double sum = 0;
            for (const double value : *column)
                sum += value;
            m_sums.push_back(sum);
            m_columns.push_back(std::move(*column));
        }
        return {m_columns.size() - 2, m_columns.size() - 1};
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

    void fill(StudyRow& row, const Ratio& ratio, const std::vector<std::optional<double>>& cost,
              const statistics::ClusterResamples& resamples) const
    {
        const std::size_t base = m_options.baseline;
        const bool isReduced = std::find(reduced.begin(), reduced.end(), row.id) != reduced.end();
        const Estimate unknown{{}, {}, "not known for this target or for the baseline"};
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            const bool known = ratio.targets[t].has_value();
            const bool paired = known && ratio.targets[base].has_value();
            row.values.push_back(
                known ? estimate(resamples, [&](auto s) { return finishedBy(ratio, t, s); })
                      : unknown);
            row.changes.push_back(
                paired ? estimate(resamples, [&](auto s) { return change(ratio, t, s); })
                       : unknown);
            if (ratio.form == RatioForm::Percent)
                row.countChanges.push_back(
                    paired ? estimate(resamples,
                                      [&](auto s) {
                                          return s(ratio.targets[t]->numerator)
                                                 - s(ratio.targets[base]->numerator);
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

    double change(const Ratio& ratio, std::size_t target, auto sum) const
    {
        const double before = finishedBy(ratio, m_options.baseline, sum);
        const double after = finishedBy(ratio, target, sum);
        return ratio.form == RatioForm::Percent ? after - before : percent(after - before, before);
    }

    Estimate retained(const Ratio& ratio, std::size_t target,
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

    void addDisagreement(StudyReport& report) const
    {
        std::vector<const StudyRow*> rows;
        for (const StudyRow& row : report.rows)
            if (!row.reductions.empty()) {
                rows.push_back(&row);
                report.reduced.push_back(row.id);
            }
        const auto excludesZero = [](const Estimate& e) {
            return e.interval && (e.interval->low > 0 || e.interval->high < 0);
        };
        report.disagreement.assign(rows.size(), std::vector<Disagreement>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < rows.size(); ++j)
                for (std::size_t t = 0; t < m_targets.size(); ++t) {
                    const Estimate& a = rows[i]->reductions[t];
                    const Estimate& b = rows[j]->reductions[t];
                    if (t == m_options.baseline || !a.value || !b.value)
                        continue;
                    Disagreement& cell = report.disagreement[i][j];
                    ++cell.compared;
                    if (*a.value * *b.value >= 0)
                        continue;
                    ++cell.signs;
                    cell.certain += excludesZero(a) && excludesZero(b) ? 1 : 0;
                }
    }

    void addFront(StudyReport& report) const
    {
        const auto kl = std::find_if(report.rows.begin(), report.rows.end(),
                                     [](const StudyRow& row) { return row.id == "C1"; });
        if (kl == report.rows.end())
            return;
        const auto known = [&](std::size_t t) { return report.cost[t] && kl->values[t].value; };
        const auto beats = [&](std::size_t a, std::size_t b) {
            const bool noWorse =
                *report.cost[a] <= *report.cost[b] && *kl->values[a].value <= *kl->values[b].value;
            return noWorse
                   && (*report.cost[a] < *report.cost[b]
                       || *kl->values[a].value < *kl->values[b].value);
        };
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            bool beaten = !known(t);
            for (std::size_t other = 0; other < m_targets.size() && !beaten; ++other)
                beaten = known(other) && beats(other, t);
            if (!beaten)
                report.paretoFront.push_back(t);
        }
        std::stable_sort(
            report.paretoFront.begin(), report.paretoFront.end(),
            [&](std::size_t a, std::size_t b) { return *report.cost[a] < *report.cost[b]; });
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

    /// L6: two-way analysis of variance of the samples' mean forward KL, sample × configuration.
    Measure variance(const StudyReport& report) const
    {
        Measure share = named("L6", "needs forward KL of two targets and two samples");
        const auto kl = std::find_if(report.rows.begin(), report.rows.end(),
                                     [](const StudyRow& row) { return row.id == "C1"; });
        if (kl == report.rows.end() || m_targets.size() < 2 || m_shared.size() < 2)
            return share;
        const Ratio& ratio = m_ratios[static_cast<std::size_t>(kl - report.rows.begin())];
        const auto samples = static_cast<double>(m_shared.size());
        const auto configurations = static_cast<double>(m_targets.size());
        std::vector<double> ofSample(m_shared.size());
        std::vector<double> ofTarget(m_targets.size());
        const auto at = [&](std::size_t s, std::size_t t) {
            return m_columns[ratio.targets[t]->numerator][s]
                   / m_columns[ratio.targets[t]->denominator][s];
        };
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            if (!ratio.targets[t])
                return share;
            for (std::size_t s = 0; s < m_shared.size(); ++s) {
                ofSample[s] += at(s, t) / configurations;
                ofTarget[t] += at(s, t) / samples;
            }
        }
        double mean = 0;
        for (const double value : ofTarget)
            mean += value / configurations;
        double between = 0;
        double residual = 0;
        for (std::size_t t = 0; t < m_targets.size(); ++t) {
            between += samples * (ofTarget[t] - mean) * (ofTarget[t] - mean);
            for (std::size_t s = 0; s < m_shared.size(); ++s) {
                const double left = at(s, t) - ofSample[s] - ofTarget[t] + mean;
                residual += left * left;
            }
        }
        const double within = residual / ((samples - 1) * (configurations - 1));
        const double component = std::max(0.0, (between / (configurations - 1) - within) / samples);
        setValue(share, percent(component, component + within));
        share.n = m_shared.size();
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
    std::vector<Ratio> m_ratios;
};

} // namespace

std::span<const std::string_view> reducedMeasures()
{
    return reduced;
}

std::span<const PaperName> paperNames()
{
    return names;
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
