// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/measure_builder.h"
#include "core/diff/study.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace moire::diff {

namespace {

using Ids = std::vector<std::int32_t>;

/// One sample in every run.
struct Shared
{
    std::vector<trace::SampleIndex> places; ///< one a run
    std::vector<Ids> responses;             ///< one a run
    std::size_t prompt = 0;                 ///< tokens before the first run's response

    /// First index at which two configurations differ; the shortest length where none do.
    std::size_t divergence() const
    {
        std::size_t shortest = responses.front().size();
        for (const Ids& ids : responses)
            shortest = std::min(shortest, ids.size());
        for (std::size_t i = 0; i < shortest; ++i)
            for (const Ids& ids : responses)
                if (ids[i] != responses.front()[i])
                    return i;
        return shortest;
    }
    bool diverges() const
    {
        return std::any_of(responses.begin(), responses.end(),
                           [&](const Ids& ids) { return ids != responses.front(); });
    }
};

std::vector<Shared> sharedSamples(std::span<const trace::Run* const> runs)
{
    std::vector<std::map<std::pair<std::string, std::uint32_t>, trace::SampleIndex>> places;
    for (const trace::Run* run : runs) {
        places.emplace_back();
        for (std::size_t i = 0; i < run->samples().size(); ++i)
            places.back().emplace(std::pair(run->samples()[i].id, run->samples()[i].repeat),
                                  static_cast<trace::SampleIndex>(i));
    }
    std::vector<Shared> all;
    for (const trace::Sample& sample : runs.front()->samples()) {
        Shared shared;
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const auto at = places[r].find({sample.id, sample.repeat});
            if (at == places[r].end())
                break;
            shared.places.push_back(at->second);
            Ids ids;
            std::size_t prompt = 0;
            for (const trace::Token& token : runs[r]->tokens(at->second)) {
                if (token.response)
                    ids.push_back(token.id);
                else
                    ++prompt;
            }
            if (r == 0)
                shared.prompt = prompt;
            shared.responses.push_back(std::move(ids));
        }
        if (shared.places.size() == runs.size())
            all.push_back(std::move(shared));
    }
    return all;
}

double sampleDeviation(const std::vector<double>& values)
{
    double mean = 0;
    for (const double value : values)
        mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// Row numbers by (sample, position).
using RowPlaces = std::map<std::pair<trace::SampleIndex, std::uint32_t>, trace::RowIndex>;

RowPlaces rowPlaces(const trace::Run& run)
{
    RowPlaces places;
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        const trace::Row row = run.row(r);
        places.emplace(std::pair(row.sample, row.position), r);
    }
    return places;
}

/// Probability of a row's best token; none where there is no table.
std::optional<double> topProbability(const trace::Run& run, const RowPlaces& rows,
                                     trace::SampleIndex sample, std::size_t position)
{
    const auto at = rows.find({sample, static_cast<std::uint32_t>(position)});
    if (at == rows.end() || run.header().logits.vocabulary == 0)
        return std::nullopt;
    const auto table = run.topK(at->second);
    if (!table || table->values.empty() || !std::isfinite(table->logSumExp))
        return std::nullopt;
    return std::exp(static_cast<double>(table->values[0]) - table->logSumExp);
}

/// Mean over samples of the mean over t before the divergence of the configurations' deviation.
std::optional<double> topDeviation(std::span<const trace::Run* const> runs,
                                   const std::vector<Shared>& samples)
{
    std::vector<RowPlaces> rows;
    for (const trace::Run* run : runs)
        rows.push_back(rowPlaces(*run));
    double sum = 0;
    double count = 0;
    for (const Shared& sample : samples) {
        double own = 0;
        double steps = 0;
        for (std::size_t t = 0; t < sample.divergence() && sample.prompt > 0; ++t) {
            std::vector<double> values;
            for (std::size_t r = 0; r < runs.size(); ++r)
                if (const auto p =
                        topProbability(*runs[r], rows[r], sample.places[r], sample.prompt + t - 1))
                    values.push_back(*p);
            if (values.size() != runs.size())
                continue;
            own += sampleDeviation(values);
            ++steps;
        }
        if (steps == 0)
            continue;
        sum += own / steps;
        ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// G9's first number: the deviation of the accuracy, where every run answers.
std::optional<double> accuracyDeviation(std::span<const trace::Run* const> runs,
                                        const std::vector<Shared>& samples)
{
    std::vector<double> accuracies;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        double right = 0;
        double answered = 0;
        double labelled = 0;
        for (const Shared& shared : samples) {
            const std::string& label =
                runs.front()->samples()[indexOf(shared.places.front())].label;
            const std::string& prediction =
                runs[r]->samples()[indexOf(shared.places[r])].prediction;
            labelled += label.empty() ? 0 : 1;
            answered += label.empty() || prediction.empty() ? 0 : 1;
            right += !label.empty() && prediction == label ? 1 : 0;
        }
        if (answered == 0)
            return std::nullopt;
        accuracies.push_back(percent(right, labelled));
    }
    return sampleDeviation(accuracies);
}

Measure differentOutputs(const std::vector<Shared>& samples)
{
    Measure outputs = named("G8", "no sample has a response in every run");
    double sum = 0;
    for (const Shared& sample : samples) {
        const std::set<Ids> different(sample.responses.begin(), sample.responses.end());
        sum += static_cast<double>(different.size());
        ++outputs.n;
    }
    if (outputs.n > 0)
        setValue(outputs, sum / static_cast<double>(outputs.n));
    outputs.whyNoInterval = "the configurations are given, not drawn";
    return outputs;
}

} // namespace

Result<SharedRows> sharedRows(const trace::Run& reference,
                              std::span<const trace::Run* const> targets,
                              const AlignmentOptions& options)
{
    SharedRows shared;
    std::vector<std::size_t> seen(reference.rowCount(), 0);
    for (const trace::Run* target : targets) {
        const auto aligned = align(reference, *target, options);
        if (!aligned)
            return aligned.error();
        shared.ofTarget.push_back(aligned->rows.size());
        for (const RowPair& pair : aligned->rows)
            ++seen[pair.reference];
    }
    std::vector<bool> rows(seen.size());
    for (std::size_t r = 0; r < seen.size(); ++r) {
        rows[r] = seen[r] == targets.size();
        shared.count += rows[r] ? 1 : 0;
    }
    if (shared.count == 0)
        return Error{Errc::Incomparable, "no row stands in all targets", reference.source(),
                     "Leave the target out that has another text, or capture it again"};
    shared.rows = std::make_shared<const std::vector<bool>>(std::move(rows));
    return shared;
}

std::vector<Measure> measuresOverRuns(std::span<const trace::Run* const> runs)
{
    std::vector<Shared> samples = sharedSamples(runs);
    std::erase_if(samples, [](const Shared& sample) {
        return std::all_of(sample.responses.begin(), sample.responses.end(),
                           [](const Ids& ids) { return ids.empty(); });
    });
    Measure spread = named("G9", "needs two runs with responses and answers");
    if (runs.size() > 1 && !samples.empty()) {
        if (const auto deviation = accuracyDeviation(runs, samples)) {
            setValue(spread, *deviation);
            spread.whyNoInterval = "the configurations are given, not drawn";
        } else {
            spread.whyNull = "not every run gave answers to labelled samples";
        }
        spread.n = runs.size();
        double lengths = 0;
        double indices = 0;
        double diverging = 0;
        for (const Shared& sample : samples) {
            std::vector<double> own;
            for (const Ids& ids : sample.responses)
                own.push_back(static_cast<double>(ids.size()));
            lengths += sampleDeviation(own);
            diverging += sample.diverges() ? 1 : 0;
            indices += sample.diverges() ? static_cast<double>(sample.divergence()) : 0;
        }
        const auto count = static_cast<double>(samples.size());
        spread.parameters["length_deviation"] = lengths / count;
        spread.parameters["diverging_percent"] = percent(diverging, count);
        if (diverging > 0)
            spread.parameters["divergence_index"] = indices / diverging;
        if (const auto deviation = topDeviation(runs, samples))
            spread.parameters["top_probability_deviation"] = *deviation;
    }
    return {differentOutputs(samples), spread};
}

} // namespace moire::diff
