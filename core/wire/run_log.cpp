// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_log.h"

#include "core/wire/run_log_state.h"

#include <utility>

namespace moire::wire {

RunLog::RunLog(std::string run, std::shared_ptr<HoldLimit> limit)
    : m_state(std::make_shared<State>(std::move(run), limit))
{
    limit->enter(m_state);
}

RunLog::~RunLog() = default;

const std::string& RunLog::run() const
{
    return m_state->run;
}

void RunLog::begin(const trace::RunHeader& header, PlannedRows planned)
{
    m_state->begin(header, planned);
}

void RunLog::beginSample(trace::SampleIndex index, const trace::Sample& sample,
                         std::span<const trace::Token> prompt)
{
    m_state->add(packSample({run(), size()}, index, sample, prompt));
}

void RunLog::addTokens(trace::SampleIndex sample, std::uint32_t first,
                       std::span<const trace::Token> tokens)
{
    m_state->add(packTokens({run(), size()}, sample, first, tokens));
}

Result<void> RunLog::addRows(std::shared_ptr<const trace::RowBlock> block,
                             const std::stop_token& stop)
{
    return m_state->addRows(std::move(block), stop);
}

void RunLog::addStoredRows(std::size_t count)
{
    m_state->addStoredRows(count);
}

void RunLog::addEvent(const trace::Event& event)
{
    m_state->add(packEvent({run(), size()}, event));
}

void RunLog::endSample(trace::SampleIndex sample, const std::string& stopReason,
                       const std::string& prediction)
{
    m_state->add(packSampleEnd({run(), size()}, sample, stopReason, prediction));
}

void RunLog::finish(const trace::Environment& closing)
{
    m_state->add(packFinish({run(), size()}, closing), true);
}

void RunLog::breakOff(std::string_view state, const std::string& sentence)
{
    m_state->add(packBroken({run(), size()}, state, sentence), true);
}

void RunLog::committed(trace::RowIndex rows, std::shared_ptr<RowSource> source)
{
    m_state->committed(rows, std::move(source));
}

void RunLog::onGrowth(std::function<void()> grown)
{
    m_state->onGrowth(std::move(grown));
}

std::uint64_t RunLog::size() const
{
    return m_state->size();
}

bool RunLog::closed() const
{
    return m_state->closed();
}

trace::RowIndex RunLog::rows() const
{
    return m_state->rows();
}

std::shared_ptr<const trace::RunHeader> RunLog::header() const
{
    return m_state->header();
}

double RunLog::secondsWaited() const
{
    return m_state->secondsWaited();
}

bool RunLog::waiting() const
{
    return m_state->waiting();
}

Result<Packed> RunLog::read(std::uint64_t sequence, const ValueChoice& values) const
{
    auto message = take(sequence, values);
    if (!message)
        return message.error();
    return std::move(message->packed);
}

Result<LogMessage> RunLog::take(std::uint64_t sequence, const ValueChoice& values) const
{
    return m_state->take(sequence, values);
}

bool RunLog::isHeld(std::uint64_t sequence) const
{
    return m_state->isHeld(sequence);
}

void RunLog::keepFor(std::uint64_t reader, std::uint64_t received, std::uint64_t handed)
{
    m_state->keepFor(reader, received, handed);
}

void RunLog::release(std::uint64_t reader)
{
    m_state->release(reader);
}

} // namespace moire::wire
