// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/growing_run.h"

#include <algorithm>

namespace moire::live {

using trace::RowIndex;

std::optional<std::uint64_t> GrowingRun::missingRows() const
{
    if (m_parts.complete)
        return 0;
    if (m_parts.expectedRows == 0 || m_parts.expectedRows < rowCount())
        return std::nullopt;
    return m_parts.expectedRows - rowCount();
}

std::span<const trace::Token> GrowingRun::tokens(trace::SampleIndex sample) const
{
    if (indexOf(sample) >= m_parts.tokens.size())
        return {};
    return *m_parts.tokens[indexOf(sample)];
}

trace::Row GrowingRun::row(RowIndex r) const
{
    if (r >= rowCount())
        return {};
    return inFile(r) ? m_parts.stored->row(r) : m_parts.held.row(inMemory(r));
}

std::span<const std::uint64_t> GrowingRun::digests(RowIndex r) const
{
    if (r >= rowCount())
        return {};
    return inFile(r) ? m_parts.stored->digests(r)
                     : m_parts.held.digests(inMemory(r), header().taps.size());
}

std::span<const trace::Counts> GrowingRun::counts(RowIndex r) const
{
    if (r >= rowCount())
        return {};
    return inFile(r) ? m_parts.stored->counts(r)
                     : m_parts.held.counts(inMemory(r), header().taps.size());
}

std::span<const trace::Statistics> GrowingRun::statistics(RowIndex r) const
{
    if (r >= rowCount())
        return {};
    return inFile(r) ? m_parts.stored->statistics(r)
                     : m_parts.held.statistics(inMemory(r), header().taps.size());
}

Result<trace::ValueView> GrowingRun::values(trace::TapIndex tap, RowIndex rowBegin,
                                            RowIndex rowEnd) const
{
    if (header().level != trace::Level::Full)
        return Error{Errc::NotFound,
                     "values were not recorded at level " + std::string(nameOf(header().level)),
                     source(), "Record with --level full"};
    if (rowBegin >= rowEnd || rowEnd > rowCount() || indexOf(tap) >= header().taps.size())
        return Error{Errc::Invalid, "no such rows or tap", source(), {}};
    if (inFile(rowBegin))
        return m_parts.stored->values(tap, rowBegin, std::min(rowEnd, m_parts.storedRows));
    trace::ValueView view =
        m_parts.held.values(header().taps[indexOf(tap)], tap, inMemory(rowBegin), inMemory(rowEnd));
    view.rowBegin += m_parts.storedRows;
    view.rowEnd += m_parts.storedRows;
    return view;
}

Result<trace::TopKView> GrowingRun::topK(RowIndex r) const
{
    if (header().logits.vocabulary == 0 || r >= rowCount())
        return Error{Errc::NotFound, "logits were not recorded", source(), {}};
    if (inFile(r))
        return m_parts.stored->topK(r);
    return m_parts.held.topK(header().logits, inMemory(r));
}

Result<trace::RoutingView> GrowingRun::routing(std::size_t router, RowIndex r) const
{
    if (router >= header().routers.size() || r >= rowCount())
        return Error{Errc::NotFound, "no such router or row", source(), {}};
    if (inFile(r))
        return m_parts.stored->routing(router, r);
    return m_parts.held.routing(header().routers[router], router, inMemory(r));
}

Result<void> GrowingRun::stillSound() const
{
    return m_parts.stored ? m_parts.stored->stillSound() : Result<void>();
}

} // namespace moire::live
