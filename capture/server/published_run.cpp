// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/published_run.h"

#include <exception>
#include <utility>

namespace moire::capture {

namespace {

template <class T>
std::uint64_t bytesIn(const std::vector<T>& table)
{
    return table.size() * sizeof(T);
}

} // namespace

std::uint64_t bytesOf(const trace::RowBlock& block)
{
    std::uint64_t bytes = bytesIn(block.rows) + bytesIn(block.digests) + bytesIn(block.counts)
                          + bytesIn(block.statistics);
    for (const auto& values : block.values)
        bytes += values.size();
    for (const trace::RoutingBlock& routing : block.routing)
        bytes += bytesIn(routing.ids) + routing.weights.size() + routing.logits.size()
                 + bytesIn(routing.scores);
    const trace::TopKBlock& topK = block.topK;
    return bytes + bytesIn(topK.ids) + bytesIn(topK.values) + bytesIn(topK.logSumExp)
           + bytesIn(topK.remainingMass) + bytesIn(topK.askedIds) + bytesIn(topK.askedValues);
}

PublishedRun::PublishedRun(Places places, const trace::RunHeader& header, wire::PlannedRows planned,
                           std::stop_token stop)
    : m_places(std::move(places))
    , m_stop(std::move(stop))
{
    m_places.log->begin(header, planned);
}

template <class Work>
void PublishedRun::spool(Work&& work)
{
    if (!m_places.spool)
        return;
    try {
        if (const Result<void> done = work(*m_places.spool); !done)
            leaveSpool(done.error());
    } catch (const std::exception& exception) {
        leaveSpool({Errc::Internal, exception.what(), {}, {}});
    }
}

void PublishedRun::leaveSpool(const Error& reason)
{
    tellCommitted();
    m_places.spool.reset();
    m_places.unspooled(reason);
}

/// What the spool holds need not be held in memory.
void PublishedRun::tellCommitted()
{
    if (m_places.spool)
        m_places.log->committed(std::min(m_places.spool->committedRows(), m_places.log->rows()),
                                m_places.spool->source());
}

Result<trace::SampleIndex> PublishedRun::beginSample(const trace::Sample& sample,
                                                     const std::vector<trace::Token>& promptTokens)
{
    const auto index = static_cast<trace::SampleIndex>(static_cast<std::uint32_t>(m_tokens.size()));
    spool([&](SpoolWriter& to) { return to.beginSample(index, sample, promptTokens); });
    m_tokens.push_back(static_cast<std::uint32_t>(promptTokens.size()));
    m_places.log->beginSample(index, sample, promptTokens);
    return index;
}

Result<void> PublishedRun::addTokens(trace::SampleIndex sample,
                                     const std::vector<trace::Token>& tokens)
{
    std::uint32_t& count = m_tokens.at(trace::indexOf(sample));
    spool([&](SpoolWriter& to) { return to.addTokens(sample, count, tokens); });
    m_places.log->addTokens(sample, count, tokens);
    count += static_cast<std::uint32_t>(tokens.size());
    return {};
}

Result<void> PublishedRun::append(trace::RowBlock block)
{
    const auto shared = std::make_shared<const trace::RowBlock>(std::move(block));
    spool([&](SpoolWriter& to) -> Result<void> {
        // With what waits to be written; the rows of a run have one size.
        const std::uint64_t bytes = bytesOf(*shared);
        if (!m_places.hasRoom(bytes + to.waitingRows() * (bytes / shared->rows.size())))
            return Error{Errc::NoSpace, "the spool is full", {}, {}};
        return to.append(shared);
    });
    // What came before these rows may go now to make room for them.
    tellCommitted();
    if (auto added = m_places.log->addRows(shared, m_stop); !added)
        return added;
    tellCommitted();
    return {};
}

Result<void> PublishedRun::addEvent(const trace::Event& event)
{
    spool([&](SpoolWriter& to) { return to.addEvent(event); });
    m_places.log->addEvent(event);
    return {};
}

Result<void> PublishedRun::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                     const std::string& prediction)
{
    spool([&](SpoolWriter& to) { return to.endSample(sample, stopReason, prediction); });
    m_places.log->endSample(sample, stopReason, prediction);
    return {};
}

Result<void> PublishedRun::finish(const trace::Environment& closing)
{
    spool([&](SpoolWriter& to) { return to.finish(closing); });
    tellCommitted();
    m_places.log->finish(closing);
    return {};
}

void PublishedRun::breakOff(std::string_view state, const std::string& sentence)
{
    spool([&](SpoolWriter& to) { return to.breakOff(state, sentence); });
    tellCommitted();
    m_places.log->breakOff(state, sentence);
}

void PublishedRun::close(double seconds)
{
    spool([&](SpoolWriter& to) {
        return to.close(seconds, m_places.log->secondsWaited(), m_places.log->size());
    });
}

} // namespace moire::capture
