// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/cause_evidence.h"

#include "core/base/text.h"
#include "core/diff/origin.h"

#include <algorithm>
#include <cstdio>

namespace moire::diff {

namespace {

constexpr std::size_t mostSamples = 256;

/// Whether a row differs in any tensor. Rows that were passed over as equal share one record, which
/// is looked at once.
class Differences
{
public:
    bool in(const RowRecord& record)
    {
        if (&record == m_equal)
            return false;
        const bool any =
            std::any_of(record.sites.begin(), record.sites.end(),
                        [](const Site& site) { return site.state == Site::State::Different; });
        if (!any)
            m_equal = &record;
        return any;
    }

private:
    const RowRecord* m_equal = nullptr;
};

} // namespace

std::string countOf(std::uint64_t count, const std::string& noun)
{
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string percentOf(double share)
{
    const double percent = 100 * share;
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.0f %%", percent);
    if (share < 1 && percent >= 99.5)
        return "more than 99 %";
    if (share > 0 && percent < 0.5)
        return "less than 1 %";
    return buffer;
}

std::string numberText(double value)
{
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
    return buffer;
}

std::string siteText(const Divergence& divergence)
{
    return base::visibleText(divergence.sample) + '/' + std::to_string(divergence.position) + '/'
           + divergence.tap;
}

std::string opOf(const std::string& tap)
{
    std::string name = tap;
    constexpr std::string_view layers = "model.layers.";
    if (name.starts_with(layers)) {
        const std::size_t dot = name.find('.', layers.size());
        name.erase(0, dot == std::string::npos ? 0 : dot + 1);
    }
    if (name == "out")
        return "the layer's output";
    if (name.ends_with(".out"))
        name.erase(name.size() - 4);
    return name;
}

PromptDifference promptDifference(const FoldView& view)
{
    PromptDifference found;
    for (const Alignment::SamplePair& pair : view.alignment.samples) {
        if (!pair.split || view.reference.tokens(pair.reference)[*pair.split].response)
            continue;
        if (found.samples++ == 0)
            found.example = "sample " + base::visibleText(view.nameOfSample(pair.reference))
                            + " at token " + std::to_string(*pair.split);
    }
    return found;
}

RowPhases rowPhases(const FoldView& view)
{
    RowPhases phases;
    Differences differences;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const bool prefill =
            view.reference.row(view.alignment.rows[row].reference).phase == trace::Phase::Prefill;
        ++(prefill ? phases.prefill : phases.later);
        if (differences.in(record))
            ++(prefill ? phases.differentPrefill : phases.differentLater);
    });
    return phases;
}

std::vector<OpCount> introducingOps(const FoldView& view)
{
    const OriginContext context{view.reference.header(), view.target.header(), view.alignment.rows,
                                view.alignment.taps, [&view](std::size_t row, std::size_t tap) {
                                    return view.records[row] == nullptr
                                               ? Site::State::NotRecorded
                                               : view.records[row]->sites[tap].state;
                                }};
    std::vector<OpCount> ops;
    std::optional<trace::SampleIndex> done;
    std::size_t samples = 0;
    Differences differences;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        const trace::SampleIndex sample = view.alignment.rows[row].sample;
        if (done == sample || samples >= mostSamples || !differences.in(record))
            return;
        done = sample;
        ++samples;
        for (std::size_t tap = 0; tap < record.sites.size(); ++tap) {
            if (record.sites[tap].state != Site::State::Different
                || originOf(context, row, tap) != Origin::Introduced)
                continue;
            const std::string& name = view.tap(tap).name;
            auto op = std::find_if(ops.begin(), ops.end(),
                                   [&](const OpCount& o) { return o.name == opOf(name); });
            if (op == ops.end())
                op = ops.insert(ops.end(), {opOf(name), 0, view.site(row, name)});
            ++op->sites;
        }
    });
    return ops;
}

RoutingShare routingShare(const FoldView& view)
{
    RoutingShare share;
    std::optional<std::size_t> tap = view.head;
    const auto compared = [&](std::size_t t) {
        return std::any_of(view.records.begin(), view.records.end(), [t](const RowRecord* record) {
            return record != nullptr && record->sites[t].valuesCompared;
        });
    };
    for (std::size_t t = view.alignment.taps.size(); !tap && t-- > 0;)
        if (compared(t))
            tap = t;
    double all = 0;
    double changedError = 0;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        const auto changed =
            std::find_if(record.routes.begin(), record.routes.end(),
                         [](const RouteRecord& route) { return route.cell.replaced > 0; });
        ++share.rows;
        const double error = tap ? record.sites[*tap].sumSquares : 0;
        all += error;
        if (changed == record.routes.end())
            return;
        if (share.changedRows++ == 0)
            share.firstMargin = changed->margin;
        changedError += error;
    });
    if (all > 0) {
        share.errorShare = changedError / all;
        share.errorOf = view.tap(*tap).name;
    }
    return share;
}

} // namespace moire::diff
