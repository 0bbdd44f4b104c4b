// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/fold_rows.h"

#include "core/diff/sample_name.h"

#include <string>
#include <utility>

namespace moire::diff {

namespace {

struct Alone
{
    RowRecord record;
    std::vector<Site> sites;
};

} // namespace

Result<std::shared_ptr<const RowRecord>> compareAlone(RowComparer& comparer, std::size_t taps,
                                                      std::size_t row)
{
    const auto alone = std::make_shared<Alone>();
    alone->sites.resize(taps);
    auto record = comparer.compare(row, alone->sites);
    if (!record)
        return record.error();
    alone->record = std::move(*record);
    return std::shared_ptr<const RowRecord>(alone, &alone->record);
}

std::shared_ptr<const RowRecord> equalAlone(const Alignment& alignment)
{
    const auto alone = std::make_shared<Alone>();
    for (const TapPair& pair : alignment.taps) {
        alone->sites.emplace_back();
        alone->sites.back().state = Site::State::Equal;
        alone->sites.back().elements = pair.width;
    }
    alone->record.sites = alone->sites;
    return std::shared_ptr<const RowRecord>(alone, &alone->record);
}

std::optional<std::size_t> countedPair(const trace::Run& reference, const trace::Run& target,
                                       const Alignment& alignment, const ComparisonOptions& options)
{
    if (options.firstOnly || reference.header().level != trace::Level::Full
        || target.header().level != trace::Level::Full)
        return std::nullopt;
    return headPair(reference, alignment);
}

FoldView viewOf(const trace::Run& reference, const trace::Run& target, const Alignment& alignment,
                const ComparisonOptions& options, const RowRecords& records)
{
    FoldView view{reference, target,
                  alignment, options,
                  {},        headPair(reference, alignment),
                  0,         alignment.rows.size()};
    view.sampleNames = std::make_shared<const std::vector<std::string>>(sampleNames(reference));
    view.records.reserve(records.size());
    for (const auto& record : records)
        view.records.push_back(record.get());
    return view;
}

void describeGrid(const Alignment& alignment, const RowRecords& records, Report& report)
{
    const std::size_t routers = alignment.routers.size();
    report.rows = alignment.rows;
    report.tapPairs = alignment.taps;
    report.routerPairs = alignment.routers;
    report.logits.resize(records.size());
    report.routes.resize(records.size() * routers);
    for (std::size_t row = 0; row < records.size(); ++row) {
        if (records[row] == nullptr)
            continue;
        const RowRecord& record = *records[row];
        report.logits[row] = record.logits.row;
        for (std::size_t i = 0; i < routers; ++i)
            report.routes[row * routers + i] = record.routes[i].cell;
    }
}

} // namespace moire::diff
