// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/growing_comparison.h"

#include "core/diff/fold_rows.h"
#include "core/diff/report_parts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace moire::diff {

namespace {

constexpr std::size_t topFive = 2;
static_assert(topKSizes[topFive] == 5);

bool differs(const RowRecord& record)
{
    const LogitsRow& logits = record.logits.row;
    const auto five = static_cast<std::uint8_t>(1U << topFive);
    return std::any_of(record.sites.begin(), record.sites.end(),
                       [](const Site& site) { return site.state == Site::State::Different; })
           || record.logits.tablesDiffer || !record.nonFinite.empty()
           || logits.referenceTop != logits.targetTop
           || ((logits.known & five) != 0 && (logits.setEqual & five) == 0)
           || std::any_of(record.routes.begin(), record.routes.end(),
                          [](const RouteRecord& route) { return route.cell.replaced > 0; });
}

} // namespace

/// Two snapshots and what was compared in them.
struct GrowingComparison::State
{
    struct Stage
    {
        Stage(trace::RunPointer referenceRun, trace::RunPointer targetRun,
              std::shared_ptr<const Alignment> pairs, const ComparisonOptions& options)
            : reference(std::move(referenceRun))
            , target(std::move(targetRun))
            , alignment(std::move(pairs))
            , comparer(*reference, *target, *alignment, options)
            , counted(countedPair(*reference, *target, *alignment, options))
            , records(alignment->rows.size())
        {}
        trace::RunPointer reference;
        trace::RunPointer target;
        std::shared_ptr<const Alignment> alignment;
        RowComparer comparer;
        std::optional<std::size_t> counted;
        RowRecords records;

        Result<void> countRow(std::size_t row, ElementHistograms& counts) const
        {
            return counted ? countElements(*reference, *target, alignment->rows[row],
                                           alignment->taps[*counted], counts)
                           : Result<void>();
        }
    };

    ComparisonOptions options;
    std::unique_ptr<Stage> stage;
    std::shared_ptr<const RowRecord> equalRecord; ///< of rows passed over
    ElementHistograms elements;
    std::size_t compared = 0;
    std::size_t different = 0;

    void carryOver(const Stage& before, Stage& now, std::vector<bool>& carried);
    Result<void> forget(const Stage& before, std::size_t row);
};

/// Gives `now` the records of the pairs that stood in `before`.
void GrowingComparison::State::carryOver(const Stage& before, Stage& now,
                                         std::vector<bool>& carried)
{
    constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> places(before.reference->rowCount(), nowhere);
    for (std::size_t row = 0; row < before.records.size(); ++row)
        if (before.records[row] != nullptr)
            places[before.alignment->rows[row].reference] = row;
    for (std::size_t row = 0; row < now.records.size(); ++row) {
        const RowPair& pair = now.alignment->rows[row];
        const std::size_t place = pair.reference < places.size() ? places[pair.reference] : nowhere;
        if (place == nowhere || before.alignment->rows[place].target != pair.target)
            continue;
        now.records[row] = before.records[place];
        carried[place] = true;
    }
}

Result<void> GrowingComparison::State::forget(const Stage& before, std::size_t row)
{
    ElementHistograms gone;
    if (auto counted = before.countRow(row, gone); !counted)
        return counted;
    elements.remove(gone);
    --compared;
    different -= diff::differs(*before.records[row]) ? 1 : 0;
    return {};
}

GrowingComparison::GrowingComparison(ComparisonOptions options)
    : m_state(std::make_unique<State>())
{
    m_state->options = std::move(options);
}

GrowingComparison::~GrowingComparison() = default;

Result<void> GrowingComparison::goOn(trace::RunPointer reference, trace::RunPointer target,
                                     std::shared_ptr<const Alignment> alignment)
{
    auto now = std::make_unique<State::Stage>(std::move(reference), std::move(target),
                                              std::move(alignment), m_state->options);
    if (const State::Stage* before = m_state->stage.get()) {
        std::vector<bool> carried(before->records.size(), false);
        m_state->carryOver(*before, *now, carried);
        for (std::size_t row = 0; row < carried.size(); ++row)
            if (before->records[row] != nullptr && !carried[row])
                if (auto forgotten = m_state->forget(*before, row); !forgotten)
                    return forgotten;
    }
    m_state->stage = std::move(now);
    return {};
}

bool GrowingComparison::isCompared(std::size_t rowPair) const
{
    return m_state->stage->records[rowPair] != nullptr;
}

Result<void> GrowingComparison::add(std::size_t rowPair)
{
    State::Stage& stage = *m_state->stage;
    if (rowPair >= stage.records.size())
        return Error{Errc::Invalid, "no such row in the alignment", {}, {}};
    if (stage.records[rowPair] != nullptr)
        return {};
    const ComparisonOptions& options = m_state->options;
    std::shared_ptr<const RowRecord> record;
    if (options.firstOnly && !options.grid && stage.comparer.equalByRollUp(rowPair)) {
        if (!m_state->equalRecord)
            m_state->equalRecord = equalAlone(*stage.alignment);
        record = m_state->equalRecord;
    } else {
        auto compared = compareAlone(stage.comparer, stage.alignment->taps.size(), rowPair);
        if (!compared)
            return compared.error();
        record = std::move(*compared);
    }
    if (auto counted = stage.countRow(rowPair, m_state->elements); !counted)
        return counted;
    m_state->different += diff::differs(*record) ? 1 : 0;
    ++m_state->compared;
    stage.records[rowPair] = std::move(record);
    return {};
}

std::size_t GrowingComparison::count() const
{
    return m_state->compared;
}

bool GrowingComparison::differs() const
{
    return m_state->different > 0;
}

Report GrowingComparison::report(unsigned resamples) const
{
    const State::Stage& stage = *m_state->stage;
    ComparisonOptions options = m_state->options;
    options.resamples = resamples;
    Report report = buildReport(
        viewOf(*stage.reference, *stage.target, *stage.alignment, options, stage.records));
    addElementQuantiles(m_state->elements, report.measures);
    if (!options.grid)
        return report;
    describeGrid(*stage.alignment, stage.records, report);
    const std::size_t taps = stage.alignment->taps.size();
    report.sites.resize(stage.records.size() * taps);
    for (std::size_t row = 0; row < stage.records.size(); ++row)
        if (stage.records[row] != nullptr)
            std::copy(stage.records[row]->sites.begin(), stage.records[row]->sites.end(),
                      report.sites.begin() + static_cast<std::ptrdiff_t>(row * taps));
    return report;
}

} // namespace moire::diff
