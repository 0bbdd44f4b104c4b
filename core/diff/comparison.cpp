// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/comparison.h"

#include "core/diff/fold_view.h"
#include "core/diff/report_parts.h"
#include "core/diff/row_comparer.h"
#include "core/diff/row_record.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace moire::diff {

struct Comparison::State
{
    State(trace::RunPointer referenceRun, trace::RunPointer targetRun,
          std::shared_ptr<const Alignment> pairs, ComparisonOptions wanted)
        : reference(std::move(referenceRun))
        , target(std::move(targetRun))
        , alignment(std::move(pairs))
        , options(wanted)
        , comparer(*reference, *target, *alignment, options)
        , records(alignment->rows.size())
    {}

    trace::RunPointer reference;
    trace::RunPointer target;
    std::shared_ptr<const Alignment> alignment;
    ComparisonOptions options;
    RowComparer comparer;
    std::vector<std::unique_ptr<const RowRecord>> records; ///< parallel to alignment->rows

    FoldView view() const;
    void copyGrid(Report& report) const;
};

FoldView Comparison::State::view() const
{
    FoldView view{*reference, *target,
                  *alignment, options,
                  {},         headPair(*reference, *alignment),
                  0,          alignment->rows.size()};
    view.records.reserve(records.size());
    for (const auto& record : records)
        view.records.push_back(record.get());
    return view;
}

void Comparison::State::copyGrid(Report& report) const
{
    const std::size_t taps = alignment->taps.size();
    const std::size_t routers = alignment->routers.size();
    report.rows = alignment->rows;
    report.tapPairs = alignment->taps;
    report.routerPairs = alignment->routers;
    report.sites.resize(records.size() * taps);
    report.logits.resize(records.size());
    report.routes.resize(records.size() * routers);
    for (std::size_t row = 0; row < records.size(); ++row) {
        if (records[row] == nullptr)
            continue;
        const RowRecord& record = *records[row];
        std::copy(record.sites.begin(), record.sites.end(),
                  report.sites.begin() + static_cast<std::ptrdiff_t>(row * taps));
        report.logits[row] = record.logits.row;
        for (std::size_t i = 0; i < routers; ++i)
            report.routes[row * routers + i] = record.routes[i].cell;
    }
}

Comparison::Comparison(trace::RunPointer reference, trace::RunPointer target,
                       std::shared_ptr<const Alignment> alignment, ComparisonOptions options)
    : m_state(std::make_unique<State>(std::move(reference), std::move(target), std::move(alignment),
                                      options))
{}

Comparison::Comparison(Comparison&&) noexcept = default;
Comparison& Comparison::operator=(Comparison&&) noexcept = default;
Comparison::~Comparison() = default;

Result<void> Comparison::add(std::size_t begin, std::size_t end)
{
    if (begin > end || end > m_state->records.size())
        return Error{Errc::Invalid, "no such rows in the alignment", {}, {}};
    for (std::size_t row = begin; row < end; ++row) {
        if (m_state->records[row] != nullptr)
            continue;
        auto record = m_state->comparer.compare(row);
        if (!record)
            return record.error();
        m_state->records[row] = std::make_unique<const RowRecord>(std::move(*record));
    }
    return {};
}

void Comparison::merge(Comparison&& other)
{
    for (std::size_t row = 0; row < m_state->records.size(); ++row)
        if (m_state->records[row] == nullptr)
            m_state->records[row] = std::move(other.m_state->records[row]);
}

Report Comparison::report() const
{
    Report report = buildReport(m_state->view());
    m_state->copyGrid(report);
    return report;
}

} // namespace moire::diff
