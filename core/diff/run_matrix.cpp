// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/run_matrix.h"

#include "core/diff/comparison.h"
#include "core/diff/study.h"

#include <algorithm>
#include <array>

namespace moire::diff {

namespace {

constexpr std::array<MatrixMeasure, 7> measures{{{"A1", "A1", true},
                                                 {"B2", "B2", false},
                                                 {"C1", "C2", false},
                                                 {"E1", "E1", true},
                                                 {"E3", "E3", true},
                                                 {"G1", "G1", true},
                                                 {"H1", "H1", true}}};

bool sameConfiguration(const trace::Environment& a, const trace::Environment& b)
{
    const auto relevant = [](const trace::Environment& environment) {
        auto fields = environment.fields();
        std::erase_if(fields, [](const auto& field) { return trace::isIncidental(field.first); });
        return fields;
    };
    return relevant(a) == relevant(b);
}

std::vector<std::size_t> configurationsOf(std::span<const trace::RunPointer> runs)
{
    std::vector<std::size_t> configuration;
    std::size_t count = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::optional<std::size_t> found;
        for (std::size_t j = 0; j < i && !found; ++j)
            if (sameConfiguration(runs[i]->header().environment, runs[j]->header().environment))
                found = configuration[j];
        configuration.push_back(found ? *found : count++);
    }
    return configuration;
}

MatrixCell cellOf(const Report& report, std::string_view MatrixMeasure::*id)
{
    MatrixCell cell;
    cell.bitwiseEqual = report.exit == 0;
    for (const MatrixMeasure& measure : measures) {
        const Measure* found = report.findMeasure(measure.*id);
        cell.values.push_back(found == nullptr ? std::nullopt : found->value);
    }
    return cell;
}

/// Takes over what is worse in `other`.
void worsen(MatrixCell& floor, const MatrixCell& other)
{
    if (other.values.empty())
        return;
    floor.bitwiseEqual = (floor.values.empty() || floor.bitwiseEqual) && other.bitwiseEqual;
    floor.values.resize(measures.size());
    for (std::size_t m = 0; m < measures.size(); ++m) {
        const auto& value = other.values[m];
        auto& worst = floor.values[m];
        if (value && (!worst || (measures[m].largerIsCloser ? *value < *worst : *value > *worst)))
            worst = value;
    }
}

void addDiagonal(RunMatrix& matrix)
{
    const std::size_t count = matrix.runs.size();
    for (std::size_t i = 0; i < count; ++i) {
        MatrixCell& floor = matrix.cells[i * count + i];
        for (std::size_t j = 0; j < count; ++j)
            if (i != j && matrix.configuration[i] == matrix.configuration[j])
                worsen(floor, matrix.cell(i, j));
        if (floor.values.empty())
            floor.why = "no repeat of this configuration";
    }
}

/// Bitwise equality is transitive, so that the first of a cluster speaks for all.
std::vector<std::vector<std::size_t>> clustersOf(const RunMatrix& matrix)
{
    std::vector<std::vector<std::size_t>> clusters;
    for (std::size_t i = 0; i < matrix.runs.size(); ++i) {
        const auto at = std::find_if(clusters.begin(), clusters.end(), [&](const auto& cluster) {
            return matrix.cell(cluster.front(), i).bitwiseEqual;
        });
        if (at == clusters.end())
            clusters.push_back({i});
        else
            at->push_back(i);
    }
    return clusters;
}

} // namespace

std::span<const MatrixMeasure> matrixMeasures()
{
    return measures;
}

Result<RunMatrix> runMatrix(std::span<const trace::RunPointer> runs,
                            const AlignmentOptions& alignment, unsigned threads,
                            std::stop_token stop, base::Progress& progress)
{
    if (runs.size() < 2)
        return Error{Errc::Invalid, "a matrix needs two captures or more", {}, "Name another one"};
    RunMatrix matrix;
    const std::size_t count = runs.size();
    matrix.runs.resize(count);
    matrix.cells.resize(count * count);
    matrix.configuration = configurationsOf(runs);
    progress.total = count * (count - 1) / 2;
    ComparisonOptions options;
    options.resamples = 0;
    options.grid = false; // a matrix draws no cells of a pair
    options.everyMeasure = false;
    std::optional<Error> incomparable;
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) { // what a run without any pair is known by
        matrix.runs[i].file = runs[i]->source();
        matrix.runs[i].environment = runs[i]->header().environment;
    }
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 1; j < count; ++j) {
            base::Progress ofPair;
            const auto report =
                compare(runs[i], runs[j], alignment, options, threads, stop, ofPair);
            ++progress.done;
            if (!report && report.error().code != Errc::Incomparable)
                return report.error();
            MatrixCell& ours = matrix.cells[i * count + j];
            MatrixCell& theirs = matrix.cells[j * count + i];
            if (!report) {
                incomparable = report.error();
                ours.why = theirs.why = report.error().sentence;
                continue;
            }
            any = true;
            matrix.runs[i] = report->reference;
            matrix.runs[j] = report->target;
            ours = cellOf(*report, &MatrixMeasure::id);
            theirs = cellOf(*report, &MatrixMeasure::swapped);
        }
    if (!any)
        return *incomparable;
    addDiagonal(matrix);
    matrix.clusters = clustersOf(matrix);
    std::vector<const trace::Run*> pointers;
    for (const trace::RunPointer& run : runs)
        pointers.push_back(run.get());
    matrix.overAll = measuresOverRuns(pointers);
    return matrix;
}

} // namespace moire::diff
