// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"

#include "core/diff/element_histograms.h"
#include "core/diff/fold_rows.h"
#include "core/diff/report_parts.h"
#include "core/diff/row_comparer.h"
#include "core/diff/row_record.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace moire::diff {

struct Comparison::State
{
    State(trace::RunPointer referenceRun, trace::RunPointer targetRun,
          std::shared_ptr<const Alignment> pairs, ComparisonOptions wanted,
          std::shared_ptr<std::vector<Site>> memory)
        : reference(std::move(referenceRun))
        , target(std::move(targetRun))
        , alignment(std::move(pairs))
        , options(std::move(wanted))
        , comparer(*reference, *target, *alignment, options)
        , grid(std::move(memory))
        , records(alignment->rows.size())
    {
        if (options.grid && !grid)
            grid = std::make_shared<std::vector<Site>>(records.size() * alignment->taps.size());
        counted = countedPair(*reference, *target, *alignment, options);
    }

    trace::RunPointer reference;
    trace::RunPointer target;
    std::shared_ptr<const Alignment> alignment;
    ComparisonOptions options;
    RowComparer comparer;
    std::shared_ptr<std::vector<Site>> grid;      ///< rows × taps, shared by siblings; or null
    RowRecords records;                           ///< parallel to alignment->rows
    std::shared_ptr<const RowRecord> equalRecord; ///< what all rows passed over share
    std::optional<std::size_t> counted; ///< the tap pair of the logits, where its values are read
    ElementHistograms elements;         ///< of that, over the rows compared

    std::span<Site> sitesOf(std::size_t row) const
    {
        const std::size_t taps = alignment->taps.size();
        return std::span(*grid).subspan(row * taps, taps);
    }
    Result<std::shared_ptr<const RowRecord>> compare(std::size_t row);
    std::shared_ptr<const RowRecord> equal();
    Result<void> count(std::size_t row, ElementHistograms& counts) const;
    void take(std::size_t row, const State& other);
    FoldView view() const { return viewOf(*reference, *target, *alignment, options, records); }
};

Result<std::shared_ptr<const RowRecord>> Comparison::State::compare(std::size_t row)
{
    if (options.grid) {
        auto record = comparer.compare(row, sitesOf(row));
        if (!record)
            return record.error();
        return std::make_shared<const RowRecord>(std::move(*record));
    }
    if (options.firstOnly && comparer.equalByRollUp(row))
        return equal();
    return compareAlone(comparer, alignment->taps.size(), row);
}

std::shared_ptr<const RowRecord> Comparison::State::equal()
{
    if (!equalRecord)
        equalRecord = equalAlone(*alignment);
    return equalRecord;
}

Result<void> Comparison::State::count(std::size_t row, ElementHistograms& counts) const
{
    return counted ? countElements(*reference, *target, alignment->rows[row],
                                   alignment->taps[*counted], counts)
                   : Result<void>();
}

/// A row that another fold has compared; its sites are copied where the memory is another.
void Comparison::State::take(std::size_t row, const State& other)
{
    records[row] = other.records[row];
    if (!options.grid || other.grid == grid)
        return;
    RowRecord record = *records[row];
    const std::span<Site> place = sitesOf(row);
    std::copy(record.sites.begin(), record.sites.end(), place.begin());
    record.sites = place;
    records[row] = std::make_shared<const RowRecord>(std::move(record));
}

Comparison::Comparison(trace::RunPointer reference, trace::RunPointer target,
                       std::shared_ptr<const Alignment> alignment, ComparisonOptions options)
    : m_state(std::make_unique<State>(std::move(reference), std::move(target), std::move(alignment),
                                      std::move(options), nullptr))
{}

Comparison::Comparison(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

Comparison::Comparison(Comparison&&) noexcept = default;
Comparison& Comparison::operator=(Comparison&&) noexcept = default;
Comparison::~Comparison() = default;

Comparison Comparison::sibling() const
{
    return Comparison(std::make_unique<State>(m_state->reference, m_state->target,
                                              m_state->alignment, m_state->options, m_state->grid));
}

Result<void> Comparison::add(std::size_t begin, std::size_t end)
{
    if (begin > end || end > m_state->records.size())
        return Error{Errc::Invalid, "no such rows in the alignment", {}, {}};
    for (std::size_t row = begin; row < end; ++row) {
        if (m_state->records[row] != nullptr)
            continue;
        auto record = m_state->compare(row);
        if (!record)
            return record.error();
        if (auto counted = m_state->count(row, m_state->elements); !counted)
            return counted;
        m_state->records[row] = std::move(*record);
    }
    return {};
}

void Comparison::merge(Comparison&& other)
{
    m_state->elements.merge(other.m_state->elements);
    for (std::size_t row = 0; row < m_state->records.size(); ++row) {
        if (other.m_state->records[row] == nullptr)
            continue;
        if (m_state->records[row] == nullptr) {
            m_state->take(row, *other.m_state);
        } else if (ElementHistograms twice; m_state->count(row, twice)) {
            m_state->elements.remove(twice);
        }
    }
}

Report Comparison::report() const&
{
    Report report = buildReport(m_state->view());
    addElementQuantiles(m_state->elements, report.measures);
    if (!m_state->options.grid)
        return report;
    describeGrid(*m_state->alignment, m_state->records, report);
    report.sites = *m_state->grid;
    return report;
}

Report Comparison::report() &&
{
    Report report = buildReport(m_state->view());
    addElementQuantiles(m_state->elements, report.measures);
    if (!m_state->options.grid)
        return report;
    describeGrid(*m_state->alignment, m_state->records, report);
    report.sites = std::move(*m_state->grid);
    return report;
}

} // namespace moire::diff
