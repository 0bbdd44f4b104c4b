// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/spooled_rows.h"

#include "core/store/writer.h"

#include <exception>
#include <string>
#include <system_error>

namespace moire::capture {

namespace {

template <class T>
void append(std::vector<T>& to, std::span<const T> from)
{
    to.insert(to.end(), from.begin(), from.end());
}

void append(std::vector<std::byte>& to, const std::byte* from, std::size_t bytes)
{
    if (from != nullptr)
        to.insert(to.end(), from, from + bytes);
}

Result<void> appendRouting(const trace::Run& run, trace::RowIndex row, trace::RowBlock& block)
{
    const auto& routers = run.header().routers;
    for (std::size_t i = 0; i < routers.size(); ++i) {
        const auto view = run.routing(i, row);
        if (!view)
            return view.error();
        trace::RoutingBlock& to = block.routing[i];
        append(to.ids, view->ids);
        append(to.weights, view->weights,
               routers[i].chosen * numeric::sizeOf(routers[i].weightType));
        append(to.logits, view->logits, routers[i].experts * numeric::sizeOf(routers[i].logitType));
        if (view->scores != nullptr)
            to.scores.insert(to.scores.end(), view->scores, view->scores + routers[i].experts);
    }
    return {};
}

Result<void> appendTopK(const trace::Run& run, trace::RowIndex row, trace::TopKBlock& to)
{
    const auto view = run.topK(row);
    if (!view)
        return view.error();
    append(to.ids, view->ids);
    append(to.values, view->values);
    to.logSumExp.push_back(view->logSumExp);
    to.remainingMass.push_back(view->remainingMass);
    append(to.askedIds, view->askedIds);
    append(to.askedValues, view->askedValues);
    return {};
}

Result<void> appendValues(const trace::Run& run, trace::RowIndex first, trace::RowIndex end,
                          trace::RowBlock& block)
{
    for (std::size_t t = 0; t < run.header().taps.size(); ++t) {
        const std::size_t rowBytes = run.header().taps[t].rowBytes();
        block.values[t].reserve((end - first) * rowBytes);
        for (trace::RowIndex row = first; row < end;) {
            const auto view =
                run.values(static_cast<trace::TapIndex>(static_cast<std::uint32_t>(t)), row, end);
            if (!view)
                return view.error();
            for (; row < view->rowEnd; ++row)
                append(block.values[t], view->row(row), rowBytes);
        }
    }
    return {};
}

Result<trace::RowBlock> blockOf(const trace::Run& run, trace::RowIndex first, std::size_t count)
{
    trace::RowBlock block;
    block.values.resize(run.header().taps.size());
    block.routing.resize(run.header().routers.size());
    for (trace::RowIndex row = first; row < first + count; ++row) {
        block.rows.push_back(run.row(row));
        append(block.digests, run.digests(row));
        append(block.counts, run.counts(row));
        append(block.statistics, run.statistics(row));
        if (auto routed = appendRouting(run, row, block); !routed)
            return routed.error();
        if (run.header().logits.vocabulary == 0)
            continue;
        if (auto topK = appendTopK(run, row, block.topK); !topK)
            return topK.error();
    }
    if (run.header().level == trace::Level::Full)
        if (auto values = appendValues(run, first, first + count, block); !values)
            return values.error();
    if (auto sound = run.stillSound(); !sound)
        return sound.error();
    // Rows that do not hold come back empty.
    if (auto checked = checkBlock(run.header(), block); !checked)
        return Error{
            Errc::Damaged, "the spool does not hold the rows that it should", run.source(), {}};
    return block;
}

} // namespace

Result<std::shared_ptr<const store::MappedRun>> openSpooled(const std::filesystem::path& path)
{
    auto run = store::MappedRun::open(path);
    if (!run && run.error().code == Errc::NotFound)
        return store::MappedRun::open(store::partialPathOf(path));
    return run;
}

Result<std::shared_ptr<const store::MappedRun>> SpooledRows::runWith(trace::RowIndex end)
{
    const std::lock_guard lock(m_mutex);
    if (!m_run || m_run->rowCount() < end) {
        auto opened = openSpooled(m_path);
        if (!opened)
            return opened.error();
        m_run = *std::move(opened);
    }
    if (m_run->rowCount() < end)
        return Error{Errc::NotFound,
                     "the spool holds " + std::to_string(m_run->rowCount()) + " rows only",
                     m_path.filename().string(),
                     {}};
    return m_run;
}

Result<trace::RowBlock> SpooledRows::rows(trace::RowIndex first, std::size_t count)
{
    try {
        const auto run = runWith(first + count);
        if (!run)
            return run.error();
        return blockOf(**run, first, count);
    } catch (const std::exception& exception) {
        return Error{Errc::Internal,
                     std::string("cannot read the spool: ") + exception.what(),
                     m_path.filename().string(),
                     {}};
    }
}

} // namespace moire::capture
