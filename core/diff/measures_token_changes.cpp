// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/chosen_tokens.h"
#include "core/diff/measure_builder.h"

#include <array>
#include <cmath>

namespace moire::diff {

namespace {

const std::string headName{trace::headTapName};

} // namespace

void addTokenChanges(const FoldView& view, const ChosenTokens& tokens, Measures& measures)
{
    const std::string why = whyNoChosenTokens;
    Measure delta = named("D1", why);
    Measure summary = named("D2", why);
    Measure probability = named("D4", why);
    RowValues deltas;
    RowValues changes;
    tokens.forEach([&](const ChosenToken& token) {
        deltas.push_back({token.row, token.delta()});
        changes.push_back({token.row, std::exp(token.reference) * std::expm1(token.delta())});
    });
    setMean(delta, view, deltas, headName, Curve::ByPosition);
    setMean(probability, view, changes, headName, Curve::None);
    if (!deltas.empty()) {
        const auto count = static_cast<double>(deltas.size());
        const auto moments = [count](const RowValues& values) {
            std::array<double, 2> sums{};
            for (const RowValue& value : values) {
                sums[0] += std::fabs(value.value);
                sums[1] += value.value * value.value;
            }
            return std::pair(sums[0] / count, sums[1] / count);
        };
        setValue(summary, *delta.value);
        summary.form = delta.form;
        summary.bySample = delta.bySample;
        summary.n = deltas.size();
        summary.parameters["mean_abs"] = moments(deltas).first;
        summary.parameters["max"] = delta.percentiles["max"];
        summary.parameters["min"] = delta.percentiles["min"];
        double squares = 0;
        for (const RowValue& value : deltas)
            squares += (value.value - *delta.value) * (value.value - *delta.value);
        if (deltas.size() > 1)
            summary.parameters["std"] = std::sqrt(squares / (count - 1));
        probability.parameters["mean_abs"] = moments(changes).first;
        probability.parameters["rms"] = std::sqrt(moments(changes).second);
    }
    double sum = 0;
    for (const ChosenSequence& sequence : tokens.sequences)
        sum += sequence.sum() / static_cast<double>(sequence.tokens.size());
    if (!tokens.sequences.empty())
        summary.parameters["sequence_mean"] = sum / static_cast<double>(tokens.sequences.size());
    measures.insert(measures.end(), {delta, summary, probability});
}

} // namespace moire::diff
