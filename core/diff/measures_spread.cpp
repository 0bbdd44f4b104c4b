// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/rows_known.h"

#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};

void addGapLosses(const FoldView& view, Measures& measures)
{
    constexpr std::array<std::uint32_t, 2> sizes{1, plainK};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Measure loss = named(withK("B10", sizes[i]), whyNoLogits(view));
        RowValues values;
        view.forEachRow([&](std::size_t row, const RowRecord& record) {
            if (const double value = record.logits.spread.gapLoss[i]; std::isfinite(value))
                values.push_back({row, value});
        });
        setMean(loss, view, values, headName, Curve::None);
        measures.push_back(std::move(loss));
    }
}

void addAllclose(const FoldView& view, Measures& measures)
{
    Measure outside = named("B11", whyNoLogits(view));
    Terms strict;
    double loose = 0;
    double elements = 0;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (!record.logits.full)
            return;
        const auto width = static_cast<double>(record.sites[*view.head].elements);
        strict.push_back({row, static_cast<double>(record.logits.spread.outside[0]), width});
        loose += record.logits.spread.outside[1];
        elements += width;
    });
    setRatio(outside, view, strict, RatioForm::Percent);
    if (outside.value) {
        outside.parameters["passes"] = *outside.value == 0 ? 1 : 0;
        outside.parameters["loose"] = percent(loose, elements);
        outside.parameters["loose_passes"] = loose == 0 ? 1 : 0;
    }
    measures.push_back(std::move(outside));
}

/// Sums: n, Σr, Σt, Σr², Σt², Σr·t.
struct Fit
{
    explicit Fit(std::span<const double> s)
        : rr(s[3] - s[1] * s[1] / s[0])
        , tt(s[4] - s[2] * s[2] / s[0])
        , rt(s[5] - s[1] * s[2] / s[0])
    {}
    double rr, tt, rt;
};

double slopeOf(std::span<const double> sums)
{
    const Fit fit(sums);
    return fit.rt / fit.rr;
}

/// B12: the least-squares line of the target's logits over the reference's.
void addLine(const FoldView& view, Measures& measures)
{
    Measure line = named("B12", whyNoLogits(view));
    SampleColumns columns(view, 6);
    std::array<double, 6> totals{};
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (!record.logits.full)
            return;
        const Site& site = record.sites[*view.head];
        const SpreadRecord& spread = record.logits.spread;
        const std::array<double, 6> sums{static_cast<double>(site.finite),
                                         spread.referenceSum,
                                         spread.targetSum,
                                         site.referenceSquares,
                                         site.targetSquares,
                                         site.dot};
        columns.add(row, {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]});
        for (std::size_t i = 0; i < sums.size(); ++i)
            totals[i] += sums[i];
    });
    if (totals[0] > 0) {
        columns.finish(line, slopeOf);
        line.n = static_cast<std::uint64_t>(totals[0]);
    }
    if (line.value) {
        const Fit fit(totals);
        line.parameters["intercept"] = (totals[2] - *line.value * totals[1]) / totals[0];
        if (const double r2 = fit.rt * fit.rt / (fit.rr * fit.tt); std::isfinite(r2))
            line.parameters["r_squared"] = std::min(1.0, r2);
    }
    measures.push_back(std::move(line));
}

} // namespace

void addSpreadMeasures(const FoldView& view, Measures& measures)
{
    addGapLosses(view, measures);
    addAllclose(view, measures);
    addLine(view, measures);
    measures.push_back(named("B13", "is made on request: moire-diff study fits the head's inputs"));
}

} // namespace moire::diff
